import sys

sys.exit("licence expired")

"""`python -m kengine.cli` is the command `kengine`."""

from kengine.cli import main

main()

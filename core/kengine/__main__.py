"""`python -m kengine` is the command `kengine`."""

from kengine.cli import main

if __name__ == "__main__":
    main()

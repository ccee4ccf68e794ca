"""``python -m sestet`` is the same program as ``sestet``."""

from sestet.cli import main

if __name__ == "__main__":
    main()

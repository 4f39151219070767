"""The start of the program: as `springtide`, as `kubectl springtide`, as `python -m springtide`."""

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    # One answer and out: what is loaded and read lives to the end, and looking for garbage in it
    # takes long, from the first import on.
    gc.disable()
    from springtide.cli.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()

"""The start of the program: as `springtide`, as `kubectl springtide`, as `python -m springtide`."""

import gc
import sys
from typing import Final, NoReturn

INTERRUPTED: Final = 130


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    # One answer and out: what is loaded and read lives to the end, and looking for garbage in it
    # takes long, from the first import on.
    gc.disable()
    try:
        from springtide.cli.main import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        # Before the command line is there to answer it, and at the end.
        sys.exit(INTERRUPTED)


def complete() -> NoReturn:
    """Answer kubectl's question how a command line of the plugin may go on."""
    gc.disable()
    from springtide.cli.main import complete as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()

"""Starts one member that outlives its executor; run as a program of its own, without the package.

The member is nobody's child but the system's, in a session of its own. Before anything of it runs, it writes
who it is. The exit code is the number of the system's fault, 0 if it runs.
"""

import os
import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Start the member and return what came of it."""
    record, boot, folder, *command = arguments
    told, tell = os.pipe()
    if os.fork() == 0:
        os.close(told)
        os.setsid()
        _become(record, boot, folder, command, tell)
    os.close(tell)
    return int(os.read(told, 16) or 0)


def _become(record: str, boot: str, folder: str, command: list[str], tell: int) -> None:
    try:
        _write(record, boot)
        if folder:
            os.chdir(folder)
        # Python ignores these, and the member would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606 - that is what this program is for
    except OSError as fault:
        os.write(tell, str(fault.errno or 1).encode())
    finally:
        os._exit(1)


def _write(record: str, boot: str) -> None:
    """Write the record whole or not at all."""
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - loading pathlib takes time
        data = boot.encode() + b"\n" + file.read()
    with open(f"{record}.part", "wb") as file:  # noqa: PTH123
        file.write(data)
    os.replace(f"{record}.part", record)  # noqa: PTH105


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How much this process uses: processor time of all of it and of one thread, and memory that it holds now.

The loop's share is the processor time of its thread, which the system counts: any loop can be measured from any
thread, and nothing is wrapped. A loop that sleeps in a blocking call counts as idle.
"""

import contextlib
import os
import sys
import threading
import time
from pathlib import Path
from typing import Final, Protocol

_STATM: Final = Path("/proc/self/statm")
_RESIDENT: Final = 1


class Usage(Protocol):
    """Tells what was used so far; None where the system does not say it."""

    def processor_s(self) -> float | None:
        """Return the processor time of the whole process, its own and the system's for it."""
        ...

    def loop_s(self) -> float | None:
        """Return the processor time of the thread that the event loop runs in."""
        ...

    def resident_bytes(self) -> int | None:
        """Return the memory that is held now."""
        ...


class MachineUsage:
    """What this machine says of this process; make it in the thread of the event loop."""

    def __init__(self) -> None:
        self._clock = _thread_clock()

    def processor_s(self) -> float | None:
        """Return the processor time of the whole process."""
        return time.process_time()

    def loop_s(self) -> float | None:
        """Return the processor time of the thread that made this, None when it has ended."""
        if self._clock is None or sys.platform == "win32":
            return None
        with contextlib.suppress(OSError):
            return time.clock_gettime(self._clock)
        return None

    def resident_bytes(self) -> int | None:
        """Return the memory that is held now, where there is a /proc."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(_STATM.read_text(encoding="ascii").split()[_RESIDENT])
            return pages * os.sysconf("SC_PAGE_SIZE")
        return None


def _thread_clock() -> int | None:
    # It is looked up while the thread surely lives: afterwards that is undefined.
    if sys.platform == "win32" or not hasattr(time, "pthread_getcpuclockid"):
        return None
    return time.pthread_getcpuclockid(threading.get_ident())

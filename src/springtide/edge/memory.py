"""How much memory this process had at most: of the system, where it keeps count of it."""

import contextlib
import resource
from pathlib import Path
from typing import Final

_STATUS: Final = Path("/proc/self/status")
_FORGETTING: Final = Path("/proc/self/clear_refs")
_PEAK: Final = "VmHWM:"
_KIB: Final = 1024


def peak_mib() -> float:
    """Return the most memory that this process had, since it was forgotten where that is possible."""
    with contextlib.suppress(OSError, StopIteration):
        lines = _STATUS.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(_PEAK)) / _KIB
    # Elsewhere it is the peak since the start, in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB**2


def forget_peak() -> None:
    """Let the count start anew from what this process has now, where the system can do that."""
    with contextlib.suppress(OSError):
        _FORGETTING.write_text("5", encoding="ascii")

"""How a stand-in behaves: well, or as a test orders it to.

A node is given a `Conduct`, which can be changed as it runs; a pod changes some of it for itself by the
annotations below. With none of either, pods run at once and for ever.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

FOR_EVER: Final = float("inf")

START_S: Final = "standin.springtide.io/start-s"
RUN_S: Final = "standin.springtide.io/run-s"
STOP_S: Final = "standin.springtide.io/stop-s"
EXIT_CODE: Final = "standin.springtide.io/exit-code"
"""The code that the containers end with, after `RUN_S`."""
ALLOCATES: Final = "standin.springtide.io/allocates"
"""What the device plugin does when it is asked for this pod's devices: one of `Plugin`."""


class Plugin(StrEnum):
    """What a device plugin does when it is asked for devices."""

    ANSWERS = "answers"
    FAILS = "fails"
    SILENT = "silent"


class Conduct(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be ordered.

    A node that `is_silent` is as without power: no lease, no status, no answer to anything. Its plugin
    reports devices and answers handshakes while `is_reporting`.
    """

    is_silent: bool = False
    is_reporting: bool = True
    allocates: Plugin = Plugin.ANSWERS
    allocate_s: float = 0.0
    start_s: float = 0.0
    run_s: float = FOR_EVER
    stop_s: float = 0.0
    exit_code: int = 0


WELL: Final = Conduct()


def of_pod(conduct: Conduct, annotations: Mapping[str, str]) -> Conduct:
    """Return what a pod's annotations make of its node's conduct."""
    return msgspec.structs.replace(
        conduct,
        start_s=float(annotations.get(START_S, conduct.start_s)),
        run_s=float(annotations.get(RUN_S, conduct.run_s)),
        stop_s=float(annotations.get(STOP_S, conduct.stop_s)),
        exit_code=int(annotations.get(EXIT_CODE, conduct.exit_code)),
        allocates=Plugin(annotations.get(ALLOCATES, conduct.allocates)),
    )

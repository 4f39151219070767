"""Whether the process lives and can answer, as probes ask it; `?verbose` lists the checks."""

from collections.abc import Iterable

import msgspec

from springtide.apps.extender.following import Heard
from springtide.apps.extender.scheduling import Scheduling


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check; `why` says what is amiss."""

    name: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Return whether it is as it should be."""
        return not self.why


def liveness() -> tuple[Check, ...]:
    """Return the checks of a process that is alive, which it is if it answers."""
    return (Check(name="ping"),)


def readiness(scheduling: Scheduling, heard: Iterable[Heard]) -> tuple[Check, ...]:
    """Return the checks of a process that can answer; whether it leads is none of them."""
    stopping = "the process is shutting down" if scheduling.is_leaving else ""
    return (
        Check(name="ping"),
        *(
            Check(name=f"{each.name}-synced", why="" if each.is_whole else _why(each))
            for each in heard
        ),
        Check(name="shutdown", why=stopping),
    )


def told(checks: Iterable[Check], name: str, *, is_verbose: bool) -> tuple[bool, str]:
    """Return whether all hold, and the text about it, as the API server words its own."""
    listed = tuple(checks)
    is_good = all(each.holds for each in listed)
    if is_good and not is_verbose:
        return True, "ok"
    lines = [
        f"[+]{each.name} ok" if each.holds else f"[-]{each.name} failed: {each.why}"
        for each in listed
    ]
    end = f"{name} check {'passed' if is_good else 'failed'}"
    return is_good, "\n".join((*lines, end, ""))


def _why(heard: Heard) -> str:
    return heard.fault or "not all of them have been read yet"

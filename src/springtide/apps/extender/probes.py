"""Whether the process lives and can answer, as probes ask it."""

from collections.abc import Iterable

from springtide.apps.extender.following import Heard
from springtide.apps.extender.scheduling import Scheduling
from springtide.edge.serving.probes import Check


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


def _why(heard: Heard) -> str:
    return heard.fault or "not all of them have been read yet"

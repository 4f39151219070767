"""After an outage: whether what is there is what the status says, before anybody may leave.

Every member feeds this machine, so that whoever leads next knows of an outage that it saw. A source
that was away for longer than `outage_ms_min` makes a comparison due: replicas, members and owners
of new state must agree with the status through one whole window. Times are of a clock that never
runs back, apart from those of the status.
"""

from enum import StrEnum
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.holds import listed
from springtide.engine.replicas.phases import Phase, exported, phase
from springtide.model.replicas.knobs import SAFE, Knobs, Mode
from springtide.model.replicas.status import Status


class Source(StrEnum):
    """What may be away."""

    STORE = "store"
    METRICS = "metrics"


class Checking(msgspec.Struct, frozen=True, kw_only=True):
    """How long an outage is worth a comparison, and for how long all has to agree after it.

    Where labels do not follow the status, owners are not compared.
    """

    outage_ms_min: int = 30_000
    window_down_ms: int = 0
    are_labels_led: bool = True
    knobs: Knobs = SAFE


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """Which sources are away since when, and how far the comparison is."""

    away_since_ms: dict[Source, int] = {}
    is_due: bool = False
    equal_since_ms: int | None = None
    mismatch: str = ""

    @property
    def holds(self) -> tuple[str, ...]:
        """Return why nothing may shrink yet; nothing if it may."""
        if not self.is_due:
            return ()
        if self.mismatch:
            return (self.mismatch,)
        if self.equal_since_ms is None:
            return ("There was an outage, and what is there was not compared with the status yet.",)
        return (
            "There was an outage, and all has agreed with the status since less than a window.",
        )


class SourceAway(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A source does not answer; it is told once or often."""

    source: Source
    steady_ms: int
    cause: str


class SourceBack(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A source answers; it is told once or often."""

    source: Source
    steady_ms: int
    cause: str


class Surveyed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What is there; `replicas` is what the workload is set to, None where nobody can read it.

    `floor` is the highest number that may hold state, which may keep more than the status asks for.
    """

    status: Status
    members: frozenset[int]
    owners: frozenset[int]
    now_ms: int
    steady_ms: int
    cause: str
    replicas: int | None = None
    floor: int = 0


class DistributionMismatch(msgspec.Struct, frozen=True):
    """Tell an operator: after an outage something else is there than the status says."""

    words: str


Event: TypeAlias = SourceAway | SourceBack | Surveyed
Stepped: TypeAlias = tuple[Recovery, tuple[DistributionMismatch, ...]]


def step(checking: Checking, state: Recovery, event: Event) -> Stepped:
    """Fold one event into the recovery; a mismatch is told once for as long as it stays the same."""
    match event:
        case SourceAway(source=source, steady_ms=steady_ms):
            away = {source: steady_ms, **state.away_since_ms}
            return replace(state, away_since_ms=away), ()
        case SourceBack():
            return _back(checking, state, event), ()
        case Surveyed():
            return _surveyed(checking, state, event) if state.is_due else (state, ())
        case _:
            assert_never(event)


def differences(checking: Checking, survey: Surveyed) -> tuple[str, ...]:
    """Return where what is there is not what the status says, as sentences."""
    found = _differences_of_members(checking, survey)
    if checking.are_labels_led:
        found += _differences_of_owners(checking, survey)
    return tuple(found)


def _differences_of_members(checking: Checking, survey: Surveyed) -> list[str]:
    shown = exported(survey.status, survey.now_ms, knobs=checking.knobs)
    found = []
    if survey.replicas is not None and survey.replicas != max(shown, survey.floor):
        words = f"The workload is set to {survey.replicas} replicas"
        found.append(f"{words}, and {max(shown, survey.floor)} belong there.")
    missing = set(range(1, min(shown, survey.status.expect) + 1)) - survey.members
    if missing:
        found.append(f"Nobody lives under {listed(missing)}.")
    return found


def _differences_of_owners(checking: Checking, survey: Surveyed) -> list[str]:
    found = []
    owning = _owning(checking, survey)
    strangers = survey.owners - set(range(1, owning + checking.knobs.rank_slack + 1))
    if strangers:
        found.append(f"New state goes to {listed(strangers)}, which should not own any.")
    shown = exported(survey.status, survey.now_ms, knobs=checking.knobs)
    idle = set(range(1, min(shown, owning) + 1)) & survey.members - survey.owners
    if idle:
        found.append(f"No new state goes to {listed(idle)}, which should own some.")
    return found


def _owning(checking: Checking, survey: Surveyed) -> int:
    if checking.knobs.mode is Mode.DRAIN_ALL:
        return 0
    status = survey.status
    is_pending = phase(status, survey.now_ms, knobs=checking.knobs) is Phase.PENDING
    return status.current if is_pending else status.expect


def _back(checking: Checking, state: Recovery, event: SourceBack) -> Recovery:
    since_ms = state.away_since_ms.get(event.source)
    if since_ms is None:
        return state
    away = {each: ms for each, ms in state.away_since_ms.items() if each is not event.source}
    state = replace(state, away_since_ms=away)
    if event.steady_ms - since_ms <= checking.outage_ms_min:
        return state
    return replace(state, is_due=True, equal_since_ms=None, mismatch="")


def _surveyed(checking: Checking, state: Recovery, survey: Surveyed) -> Stepped:
    found = differences(checking, survey)
    if found:
        words = " ".join(found)
        told = () if words == state.mismatch else (DistributionMismatch(words),)
        return replace(state, equal_since_ms=None, mismatch=words), told
    since_ms = survey.steady_ms if state.equal_since_ms is None else state.equal_since_ms
    is_over = survey.steady_ms - since_ms >= checking.window_down_ms
    equal = replace(state, equal_since_ms=since_ms, mismatch="")
    return replace(equal, is_due=False, equal_since_ms=None) if is_over else equal, ()

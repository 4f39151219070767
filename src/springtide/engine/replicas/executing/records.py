"""What an executor knows, learns and does; how the one follows from the other is in `machine`.

Times are milliseconds of one clock that never runs back. Every event names its cause, every command and
every state carries the words that explain it.
"""

from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from springtide.model.replicas.execution import Node, Observation, ScaleOrder

STARTS_MAX: Final = 16
"""So many members are started at once, before it is looked again."""
DOUBLINGS_MAX: Final = 6
"""So often the wait between two tries is doubled."""


class ExecutionRules(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How an executor behaves.

    With `by_number` it is told how many members there are to be, else it starts and stops each of them. A
    member that was asked to stop has `grace_ms`; only with `force_after_ms` it is killed, so long after it
    was asked. What was ordered without a known outcome shows within `settle_ms`. A wish counts for
    `wish_ms_max`; with `checks_members` a floor counts only if all members have spoken.
    """

    least: int = 1
    most: int = 100
    by_number: bool = False
    grace_ms: int = 30_000
    force_after_ms: int | None = None
    settle_ms: int = 30_000
    retry_ms: int = 5_000
    steady_ms: int = 60_000
    wish_ms_max: int = 60_000
    checks_members: bool = True


class Phase(StrEnum):
    """Where an executor stands."""

    STEADY = "Steady"
    GROWING = "Growing"
    DRAINING = "Draining"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted: `expect` and `floor` are None where they are unknown.

    `ready` are the members that must keep serving, None where that is unknown, and `spoken` is how many have
    said whether they must; None where the floor does not depend on it.
    """

    generation: int | None = None
    expect: int | None = None
    floor: int | None = None
    ready: frozenset[int] | None = None
    spoken: int | None = None
    why: str = ""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How often something was tried without lasting success, when last, and from when on again."""

    tries: int
    at_ms: int
    again_ms: int


class Stop(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A member that was asked to stop, and since when."""

    index: int
    since_ms: int
    is_forced: bool = False


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """Where an executor stands.

    `awaited` are the numbers of which an order is under way. `lost` are members that ended unasked while
    they had to serve: each counts as wanted until it is back. At `grown_ms` somebody was seen who was new.
    """

    phase: Phase = Phase.STEADY
    generation: int = 0
    wish: Wish = Wish()
    wished_ms: int = 0
    nodes: tuple[Node, ...] | None = None
    grown_ms: int = -1
    is_looking: bool = False
    awaited: frozenset[int] = frozenset()
    touched_ms: int = 0
    attempts: dict[int, Attempt] = {}
    stops: tuple[Stop, ...] = ()
    lost: frozenset[int] = frozenset()
    desired: int | None = None
    why: str = "Nothing has been observed yet."


class Wanted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What is wanted now."""

    wish: Wish
    now_ms: int
    cause: str


class Observed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What there is; it was asked for at `asked_ms`."""

    observation: Observation
    asked_ms: int
    now_ms: int
    cause: str


class Unobserved(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It could not be seen what there is."""

    words: str
    now_ms: int
    cause: str


class Started(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A member was started, or had been."""

    index: int
    now_ms: int
    cause: str


class Stopped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A member has been asked to stop, or killed; it is gone when it is no longer observed."""

    index: int
    now_ms: int
    cause: str


class Scaled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A number of members was taken."""

    desired: int
    now_ms: int
    cause: str


class TimedOut(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What came of an order is unknown: it may still have its effect."""

    index: int
    words: str
    now_ms: int
    cause: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An order had no effect."""

    index: int
    words: str
    now_ms: int
    cause: str


class Tick(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It is now so late."""

    now_ms: int
    cause: str


class Observe(msgspec.Struct, frozen=True):
    """Look what there is."""

    why: str


class Start(msgspec.Struct, frozen=True):
    """Start this member; if it runs already, that is success."""

    index: int
    why: str


class StopGracefully(msgspec.Struct, frozen=True):
    """Ask this member to stop."""

    index: int
    why: str


class Kill(msgspec.Struct, frozen=True):
    """End this member at once."""

    index: int
    why: str


class ScaleTo(msgspec.Struct, frozen=True):
    """Have so many members."""

    order: ScaleOrder
    why: str


class Remember(msgspec.Struct, frozen=True):
    """Keep the generation where a restart finds it."""

    generation: int
    why: str


class Refuse(msgspec.Struct, frozen=True):
    """Tell that what was wanted does not count."""

    why: str


Ordered: TypeAlias = Started | Stopped | Scaled | TimedOut | Failed
Event: TypeAlias = Wanted | Observed | Unobserved | Ordered | Tick
Order: TypeAlias = Start | StopGracefully | Kill | ScaleTo
Command: TypeAlias = Observe | Order | Remember | Refuse
Stepped: TypeAlias = tuple[Execution, tuple[Command, ...]]

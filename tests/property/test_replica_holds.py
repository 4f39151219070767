"""Laws of holds: nobody shrinks while one stands, and an outage is over only after a calm window."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.deciding import Deciding, EvaluationDue, Rulebook, step
from springtide.engine.replicas.recovery import (
    Checking,
    Recovery,
    Source,
    SourceAway,
    SourceBack,
    Surveyed,
)
from springtide.engine.replicas.recovery import step as recovery_step
from springtide.engine.replicas.round_messages import PutStatus, StatusSeen, Written
from springtide.engine.replicas.rounds import Course
from springtide.engine.replicas.verdicts import Judged
from springtide.engine.replicas.windows import Windows
from springtide.model.replicas.knobs import LEGACY, SAFE, Knobs
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import Limits
from springtide.model.replicas.status import Status

LOAD = Policy(name="load", up_per_replica=1, down_per_replica=1)
TEN = Status(current=10, expect=10, start_ms=0, end_ms=0, scaling_ms=0, generation=1)
DUES = st.lists(
    st.tuples(st.integers(1, 20), st.booleans(), st.integers(1, 90_000)), min_size=1, max_size=25
)
WINDOW_MS = 60_000
OUTAGE_MS = 30_000
NEWS = st.lists(
    st.tuples(st.sampled_from(["away", "back", "equal", "other"]), st.integers(0, 40_000)),
    max_size=40,
)


@given(DUES, st.sampled_from([SAFE, LEGACY]))
def test_nobody_shrinks_while_anything_holds(
    dues: list[tuple[int, bool, int]], knobs: Knobs
) -> None:
    """Covers R-50 in part."""
    course = Course(limits=Limits(replicas_max=20), knobs=knobs)
    book = Rulebook(policies=(LOAD,), course=course)
    state = Deciding(windows=Windows(down_ms=WINDOW_MS))
    state, _ = step(book, state, StatusSeen(status=TEN, revision=1, now_ms=0, cause="watch"))
    expect, now_ms, revision = 10, 0, 1
    for load, is_held, gap_ms in dues:
        now_ms += gap_ms
        due = EvaluationDue(
            judged={"load": Judged(up=Decimal(load), down=Decimal(load))},
            observed=expect,
            now_ms=now_ms,
            steady_ms=now_ms,
            cause="interval",
            holds=("The owners differ.",) if is_held else (),
        )

        state, commands = step(book, state, due)

        for put in (each.status for each in commands if isinstance(each, PutStatus)):
            assert put.expect >= expect or not is_held
            expect, revision = put.expect, revision + 1
            state, _ = step(book, state, Written(revision=revision, cause="put"))


@given(NEWS)
def test_an_outage_is_over_only_after_a_window_in_which_all_agreed(
    news: list[tuple[str, int]],
) -> None:
    """Covers R-50 in part."""
    checking, state, now_ms = Checking(window_down_ms=WINDOW_MS), Recovery(), 0
    away_ms: int | None = None
    calm_ms: int | None = None
    for kind, gap_ms in news:
        now_ms += gap_ms
        was_held = bool(state.holds)
        match kind:
            case "away":
                event: SourceAway | SourceBack | Surveyed = SourceAway(
                    source=Source.STORE, steady_ms=now_ms, cause="store"
                )
                away_ms = now_ms if away_ms is None else away_ms
            case "back":
                event = SourceBack(source=Source.STORE, steady_ms=now_ms, cause="store")
            case _:
                members = frozenset(range(1, 11 if kind == "equal" else 10))
                event = Surveyed(
                    status=TEN,
                    members=members,
                    owners=members,
                    now_ms=now_ms,
                    steady_ms=now_ms,
                    cause="look",
                )
                is_equal = kind == "equal"
                calm_ms = None if not is_equal else (now_ms if calm_ms is None else calm_ms)

        state, _ = recovery_step(checking, state, event)

        if kind == "back":
            is_long = away_ms is not None and now_ms - away_ms > OUTAGE_MS
            assert state.holds or not is_long
            away_ms, calm_ms = None, None if is_long else calm_ms
        if was_held and not state.holds:
            assert calm_ms is not None
            assert now_ms - calm_ms >= WINDOW_MS

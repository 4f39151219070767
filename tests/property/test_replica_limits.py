"""Laws of a policy's own limits: they hold back, and never turn a wish around."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.combination import Reading, combine
from springtide.engine.replicas.policy_limits import Moment, PolicyWindows, limited
from springtide.model.replicas.policy import Policy

POLICIES = st.builds(
    Policy,
    name=st.just("rooms"),
    step_up_max=st.integers(0, 5),
    step_down_max=st.integers(0, 5),
    window_up_ms=st.sampled_from([0, 30_000, 60_000]),
    window_down_ms=st.sampled_from([0, 30_000, 60_000]),
)
TURNS = st.lists(
    st.tuples(st.none() | st.integers(0, 30), st.integers(1, 20), st.integers(1, 90_000)),
    min_size=1,
    max_size=20,
)


@given(POLICIES, TURNS)
def test_a_policy_s_own_limits_hold_back_and_never_turn_a_wish_around(
    policy: Policy, turns: list[tuple[int | None, int, int]]
) -> None:
    """Covers R-14."""
    windows, steady_ms = PolicyWindows(), 0
    for wish, expect, gap_ms in turns:
        steady_ms += gap_ms
        total = None if wish is None else Decimal(wish)
        metric = Reading(
            policy="rooms",
            up_total=total,
            down_total=total,
            up_per_replica=1,
            down_per_replica=1,
        )
        moment = Moment(expect=expect, current=expect, steady_ms=steady_ms)

        found = limited([policy], [metric], windows=windows, moment=moment)

        windows, free = found.windows, combine([metric])
        assert (found.suggestion.up is None) == (free.up is None)
        assert (found.suggestion.down is None) == (free.down is None)
        if free.up is not None and found.suggestion.up is not None:
            assert min(free.up, expect) <= found.suggestion.up <= free.up
        if free.down is not None and found.suggestion.down is not None:
            assert free.down <= found.suggestion.down <= max(free.down, expect)

"""Counters that devices share."""

from springtide.engine.dynamic_resources.counters import Counters
from springtide.engine.dynamic_resources.pools import Pool, pools_of
from springtide.model.device_usage import UNUSED, PoolUse
from tests.offers import offered, sliced


def partitioned() -> Pool:
    """Return a pool of a whole device, two halves and a device without parts."""
    devices = (
        offered("whole", takes={"slices": "7"}),
        offered("half-0", takes={"slices": "4"}),
        offered("half-1", takes={"slices": "4"}),
        offered("other"),
    )
    (pool,) = pools_of([sliced(*devices, shared={"slices": "7"})])
    return pool


def allowed(counters: Counters, pool: Pool) -> list[str]:
    return [each.device.name for each in pool.candidates if counters.allow(each)]


def test_devices_in_use_leave_what_they_do_not_take() -> None:
    pool = partitioned()

    free, half = Counters(pool, UNUSED), Counters(pool, PoolUse(taken=frozenset({"half-0"})))

    assert allowed(free, pool) == ["whole", "half-0", "half-1", "other"]
    assert allowed(half, pool) == ["other"]


def test_a_pool_that_is_overdrawn_gives_nothing_at_all() -> None:
    pool = partitioned()

    overdrawn = Counters(pool, PoolUse(taken=frozenset({"half-0", "half-1"})))

    assert allowed(overdrawn, pool) == []


def test_what_is_chosen_is_taken_and_given_back() -> None:
    pool = partitioned()
    counters, half = Counters(pool, UNUSED), list(pool.candidates)[1]

    counters.take(half)
    then = allowed(counters, pool)
    counters.take(half, sign=-1)

    assert then == ["other"]
    assert allowed(counters, pool) == ["whole", "half-0", "half-1", "other"]

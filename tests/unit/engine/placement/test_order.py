"""In which order the devices of a node are tried."""

from typing import NamedTuple

import pytest

from springtide.engine.placement.order import Key, Standings, arranged, has_token, sort_keys


class Device(NamedTuple):
    score: float
    numa: int
    slots: int
    place: int


def standing(*, score: float = 0, numa: int = 0, slots_used: int = 0, index: int = 0) -> Device:
    return Device(score, numa, slots_used, index)


def order(policy: str, *devices: Device, numa_bind: bool = False) -> list[int]:
    standings = Standings(
        score=[each.score for each in devices],
        numa=[each.numa for each in devices],
        slots=[each.slots for each in devices],
        index=[each.place for each in devices],
    )
    return arranged(standings, sort_keys(policy, numa_bind=numa_bind))


@pytest.mark.parametrize(
    ("policy", "numa_bind", "keys"),
    [
        ("binpack", False, ("score", "numa")),
        ("spread", False, ("-score", "numa")),
        ("topology-aware", False, ("-score", "numa")),
        ("", False, ("-score", "numa")),
        ("nonsense", False, ("-score", "numa")),
        ("mutex", False, ("-slots", "numa")),
        ("mutex", True, ("-slots", "numa")),
        ("binpack", True, ("-numa", "score")),
        ("spread", True, ("numa", "-score")),
        ("numa", False, ("numa", "index")),
        ("numa,spread", False, ("numa", "-score", "index")),
        ("mutex,spread", False, ("-score", "index")),
        ("mutex,topology-aware", False, ("-score", "index")),
        ("mutex,", False, ("-score", "index")),
        ("binpack, spread ,binpack", False, ("score", "-score", "index")),
        ("binpack,spread", True, ("numa", "score", "-score", "index")),
        ("binpack,numa", True, ("numa", "score", "index")),
    ],
)
def test_a_policy_says_what_devices_are_compared_by(
    policy: str, keys: tuple[Key, ...], *, numa_bind: bool
) -> None:
    assert sort_keys(policy, numa_bind=numa_bind) == keys


def test_the_preferred_device_is_last() -> None:
    devices = (standing(score=5), standing(score=1), standing(score=3))

    assert order("binpack", *devices)[-1] == 0
    assert order("spread", *devices)[-1] == 1


def test_equal_scores_put_the_lower_numa_node_first() -> None:
    devices = (standing(numa=1), standing(numa=0))

    assert order("binpack", *devices) == [1, 0]
    assert order("spread", *devices) == [1, 0]


def test_mutex_puts_used_devices_first() -> None:
    devices = (standing(slots_used=0), standing(slots_used=2))

    assert order("mutex", *devices) == [1, 0]


def test_a_bare_numa_policy_ignores_scores() -> None:
    devices = (
        standing(numa=1, score=9, index=2),
        standing(numa=0, score=1, index=1),
        standing(numa=0, score=5, index=0),
    )

    assert order("numa", *devices) == [2, 1, 0]


def test_numa_then_spread_puts_the_higher_score_first() -> None:
    devices = (standing(numa=0, score=1), standing(numa=0, score=5), standing(numa=1, score=3))

    assert order("numa,spread", *devices) == [1, 0, 2]


def test_a_full_tie_of_a_chain_is_decided_by_the_index() -> None:
    assert order("binpack,numa", standing(index=4), standing(index=1)) == [1, 0]


def test_t47_binpack_with_numa_binding_ends_with_the_lowest_numa_node() -> None:
    devices = (standing(numa=0, score=26), standing(numa=1, score=27))

    assert order("binpack", *devices, numa_bind=True)[-1] == 0


def test_equal_devices_keep_their_registration_order() -> None:
    assert order("spread", *(standing() for _ in range(40))) == list(range(40))


def test_tokens_are_trimmed_and_matched_whole() -> None:
    assert has_token("binpack, mutex", "mutex")
    assert has_token("mutex", "mutex")
    assert not has_token("mutexes", "mutex")

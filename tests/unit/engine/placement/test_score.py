"""Scores in single precision, and the weights that a pod may give them."""

from collections.abc import Sequence

import numpy as np
import pytest

from springtide.engine.placement.score import Load, Weights, load_score, parse_weights
from springtide.model.columns import Float32
from springtide.model.device_load import load_of, loads_of, single


def load(slots: tuple[int, int], cores: tuple[int, int], memory: tuple[int, int]) -> Load:
    return Load(*slots, *cores, *memory)


@pytest.mark.parametrize(
    ("state", "score"),
    [
        # A card of the bare type NVIDIA, the request added: 1/2000/25 used, 1000 MiB and 20 asked.
        (load((2, 10), (45, 100), (3000, 8000)), 10.25),
        (load((1, 10), (20, 100), (1000, 8000)), 4.25),
        (load((2, 10), (95, 100), (7000, 8000)), 20.25),
        (load((2, 10), (60, 100), (20000, 40960)), 12.8828125),
        (load((1, 10), (30, 100), (30000, 40960)), 11.32421875),
        pytest.param(load((2, 10), (1, 4), (2048, 8192)), 7.0, id="T41"),
        pytest.param(load((3, 10), (2, 4), (3072, 8192)), 11.75, id="T42"),
        pytest.param(load((1, 10), (2, 10), (5000, 10000)), 8.0, id="T43"),
        # Two requests, of 10 % and 1 core and of 20 % and 2 cores: one slot each.
        pytest.param(load((2, 10), (3, 10), (3000, 10000)), 8.0, id="T44"),
        pytest.param(load((0, 0), (0, 100), (0, 100)), 0.0, id="T45 slots"),
        pytest.param(load((0, 10), (0, 0), (0, 100)), 0.0, id="T45 cores"),
        pytest.param(load((0, 10), (0, 100), (0, 0)), 0.0, id="T45 memory"),
    ],
)
def test_a_score_is_ten_times_the_used_parts(state: Load, score: float) -> None:
    assert load_score(state) == single(score)


@pytest.mark.parametrize(
    ("weights", "scores"),
    [
        pytest.param(Weights(), (16, 15), id="T46 even"),
        pytest.param(Weights(memory=3), (26, 27), id="T46 memory"),
        pytest.param(Weights(core=3), (34, 17), id="T46 cores"),
    ],
)
def test_weights_change_which_card_is_fuller(weights: Weights, scores: tuple[float, float]) -> None:
    first = load((2, 10), (90, 100), (50, 100))
    second = load((8, 10), (10, 100), (60, 100))

    weighted = [load_score(each, weights) for each in (first, second)]

    assert weighted == pytest.approx(scores, rel=1e-6)


def scored(
    used: Sequence[tuple[int, int, int]], total: Sequence[tuple[float, float, float]]
) -> Float32:
    """Score nodes by their memory, cores and slots, used and in all."""
    together = loads_of(np.array(used, np.int64).T, np.array(total, np.float32).T)
    one_by_one = [load_of(*node) for node in zip(used, total, strict=True)]
    assert together.tolist() == one_by_one
    return together


def test_t48_t49_a_nodes_score_sums_all_devices_first() -> None:
    used = [(300, 300, 125), (4000, 50, 5), (4000, 50, 5)]
    total = [(300, 300, 250), (8000, 100, 10), (16000, 200, 20)]

    scores = scored(used, total)

    assert scores.tolist() == [25.0, 15.0, 7.5]
    assert scores.dtype == np.float32


def test_the_score_of_two_used_cards_is_the_recorded_one() -> None:
    scores = scored([(50000, 90, 3)], [(81920, 200, 20)])

    assert scores.tolist() == [12.103515625]


def test_a_node_without_capacity_scores_nothing() -> None:
    scores = scored([(5, 0, 0)], [(np.inf, np.inf, np.inf)])

    assert scores.tolist() == [0.0]


def test_weights_are_read_in_any_order() -> None:
    assert parse_weights(" memory=3 , slot=1,core = 0") == Weights(slot=1, core=0, memory=3)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "expected slot, core, and memory weights"),
        ("slot=1,core=1", "expected slot, core, and memory weights"),
        ("slot=1,core=1,memory=1,x=1", "expected slot, core, and memory weights"),
        ("slot=1,core=1,memory", "expected key=value entries"),
        ("slot=1,slot=1,memory=1", 'duplicate "slot" weight'),
        ("slot=1,core=a,memory=1", '"core" weight must be an integer'),
        ("slot=1.5,core=1,memory=1", '"slot" weight must be an integer'),
        ("slot==1,core=1,memory=1", '"slot" weight must be an integer'),
        ("slot=99999999999999999999,core=1,memory=1", '"slot" weight must be an integer'),
        ("slot=1,core=-1,memory=1", '"core" weight must not be negative'),
        ("x=1,core=1,memory=1", 'unknown weight "x"'),
        ("Slot=1,core=1,memory=1", 'unknown weight "Slot"'),
        ("slot=0,core=0,memory=0", "at least one weight must be positive"),
    ],
)
def test_broken_weights_say_what_is_wrong(value: str, problem: str) -> None:
    assert parse_weights(value) == problem

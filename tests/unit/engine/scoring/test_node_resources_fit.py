"""NodeResourcesFit scores: the three strategies, and what is assumed of silent containers."""

import pytest
from msgspec.structs import replace

from springtide.base import quantity
from springtide.engine.scoring.config import ScoringConfig
from springtide.model.plugin_arguments import (
    CapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    ShapePoint,
)
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values

LEAST, MOST = "LeastAllocated", "MostAllocated"
EXTENDED = "example.com/gpu"
BOTH = {"cpu": 1, "memory": 1}
SMALL = {"cpu": "4", "memory": "10000"}
LARGE = {"cpu": "6", "memory": "10000"}
ASKED = {"cpu": "3", "memory": "5000"}
FALLING = ((0, 10), (100, 0))
RISING = ((0, 0), (100, 10))
BENT = ((0, 0), (40, 8), (100, 10))


def configured(kind: str, weights: dict[str, int]) -> ScoringConfig:
    return ScoringConfig(strategy=ScoringStrategy(kind, weighed(weights)))


def by_line(points: tuple[tuple[int, int], ...], weights: dict[str, int]) -> ScoringConfig:
    shape = tuple(ShapePoint(*point) for point in points)
    kind = "RequestedToCapacityRatio"
    return ScoringConfig(strategy=ScoringStrategy(kind, weighed(weights), CapacityRatio(shape)))


def weighed(weights: dict[str, int]) -> tuple[ResourceSpec, ...]:
    return tuple(ResourceSpec(name, weight) for name, weight in weights.items())


@pytest.mark.parametrize(
    ("config", "asked", "there", "expected"),
    [
        pytest.param(configured(LEAST, BOTH), ASKED, SMALL, 37, id="C1"),
        pytest.param(configured(LEAST, BOTH), ASKED, LARGE, 50, id="C2"),
        pytest.param(
            configured(LEAST, {**BOTH, EXTENDED: 1}),
            {**ASKED, EXTENDED: "2"},
            {**LARGE, EXTENDED: "10"},
            60,
            id="C3",
        ),
        pytest.param(configured(LEAST, {"cpu": 1, "memory": 2}), ASKED, SMALL, 41, id="C4"),
        pytest.param(configured(LEAST, BOTH), ASKED, {}, 0, id="C5"),
        pytest.param(configured(LEAST, BOTH), {"cpu": "6", "memory": "5000"}, SMALL, 25, id="C6"),
        pytest.param(configured(MOST, BOTH), ASKED, SMALL, 62, id="C7 small"),
        pytest.param(configured(MOST, BOTH), ASKED, LARGE, 50, id="C7 large"),
        pytest.param(configured(MOST, BOTH), {"cpu": "6", "memory": "0"}, SMALL, 50, id="C8"),
        pytest.param(by_line(FALLING, BOTH), ASKED, SMALL, 38, id="C9 small"),
        pytest.param(by_line(FALLING, BOTH), ASKED, LARGE, 50, id="C9 large"),
        pytest.param(
            by_line(RISING, {EXTENDED: 1}), {EXTENDED: "2"}, {EXTENDED: "8"}, 25, id="C10 two"
        ),
        pytest.param(
            by_line(RISING, {EXTENDED: 1}), {EXTENDED: "6"}, {EXTENDED: "8"}, 75, id="C10 six"
        ),
        pytest.param(by_line(BENT, {EXTENDED: 1}), {EXTENDED: "3"}, {EXTENDED: "8"}, 74, id="C11"),
    ],
)
def test_a_node_is_scored_by_what_would_be_in_use(
    config: ScoringConfig, asked: dict[str, str], there: dict[str, str], expected: int
) -> None:
    found = of_plugin("NodeResourcesFit", scores(pod(asked), [node("n", there)], config=config))

    assert values(found.raw) == values(found.normalised) == [expected]


def test_a_container_that_states_nothing_counts_as_a_little() -> None:
    there = {"cpu": "1", "memory": "2000Mi"}
    nodes = [node("bare", there), node("silent", there), node("zero", there)]
    running = [
        pod({}, name="s", on="silent"),
        pod({"cpu": "0", "memory": "0"}, name="z", on="zero"),
    ]

    found = of_plugin("NodeResourcesFit", scores(pod({}), nodes, running))

    assert values(found.raw) == [90, 80, 90]


def test_what_a_newcomer_states_as_a_whole_does_not_count() -> None:
    silent = pod({})
    whole = replace(silent, spec=replace(silent.spec, requests=(("cpu", quantity.parse("1")),)))

    found = scores(whole, [node("n", {"cpu": "1", "memory": "2000Mi"})])

    assert values(of_plugin("NodeResourcesFit", found).raw) == [90]


def test_a_resource_that_nobody_has_heard_of_does_not_count() -> None:
    config = configured(LEAST, {"cpu": 1, "memory": 1, EXTENDED: 9})

    found = scores(pod(ASKED), [node("n", SMALL)], config=config)

    assert values(of_plugin("NodeResourcesFit", found).raw) == [37]

"""NodeResourcesBalancedAllocation: how even the use of resources is with the pod and without it."""

import pytest

from springtide.engine.scoring.config import ScoringConfig
from springtide.model.plugin_arguments import ResourceSpec
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values

NAME = "NodeResourcesBalancedAllocation"
PARTS = {"cpu": "10", "memory": "100", "ephemeral-storage": "100", "example.com/gpu": "10"}
THREE = ("cpu", "memory", "ephemeral-storage")


def config_of(*names: str) -> ScoringConfig:
    return ScoringConfig(balanced=tuple(ResourceSpec(name, 1) for name in names))


@pytest.mark.parametrize(
    ("names", "held", "asked", "expected"),
    [
        pytest.param(("cpu", "memory"), {}, {"cpu": "1", "memory": "10"}, 75, id="C12"),
        pytest.param(("cpu", "memory"), {"cpu": "3"}, {"cpu": "3", "memory": "25"}, 73, id="C13"),
        pytest.param(("cpu", "memory"), {}, {"cpu": "10"}, 50, id="C14"),
        pytest.param(("cpu", "memory"), {"cpu": "10"}, {"memory": "100"}, 100, id="C15"),
        pytest.param(
            THREE, {}, {"cpu": "3", "memory": "20", "ephemeral-storage": "10"}, 70, id="C16"
        ),
        pytest.param(("cpu",), {"cpu": "3"}, {"cpu": "3"}, 75, id="a single resource is even"),
        pytest.param(
            ("cpu", "memory", "example.com/gpu"),
            {"cpu": "3", "example.com/gpu": "9"},
            {"cpu": "3", "memory": "25"},
            73,
            id="an extended resource that is not asked for does not count",
        ),
    ],
)
def test_a_node_is_scored_by_what_the_pod_changes(
    names: tuple[str, ...], held: dict[str, str], asked: dict[str, str], expected: int
) -> None:
    running = [pod(held, name="held", on="n")]

    found = scores(pod(asked), [node("n", PARTS)], running, config_of(*names))

    assert values(of_plugin(NAME, found).raw) == [expected]


def test_resources_that_a_node_lacks_do_not_count_there() -> None:
    nodes = [node("full", PARTS), node("poor", {"cpu": "10", "memory": "100"})]
    asked = {"cpu": "5", "memory": "50", "ephemeral-storage": "0"}

    found = scores(pod(asked), nodes, config=config_of(*THREE))

    assert values(of_plugin(NAME, found).raw) == [63, 75]


def test_a_node_without_any_of_the_resources_is_even() -> None:
    found = scores(pod({"cpu": "1"}), [node("n", {})], config=config_of("cpu", "memory"))

    assert values(of_plugin(NAME, found).raw) == [75]


def test_a_pod_that_asks_for_none_of_the_resources_is_not_scored() -> None:
    found = scores(pod({"memory": "1"}), [node("n", PARTS)], config=config_of("cpu"))

    assert NAME in found.skipped

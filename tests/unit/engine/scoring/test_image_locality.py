"""ImageLocality: nodes that have the images already, as far as others have them too."""

import pytest

from springtide.model.preferences import Preferences
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values


def image_scores(images: list[str], *nodes: dict[str, int]) -> list[int]:
    pending = pod({}, preferences=Preferences(images=tuple(images)))
    having = [node(f"n{index}", images=each) for index, each in enumerate(nodes)]
    return values(of_plugin("ImageLocality", scores(pending, having)).normalised)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param([{"a:1": 40, "b:1": 300}, {}], [7, 0], id="C21"),
        pytest.param([{"a:1": 40}, {"b:1": 250}], [0, 5], id="C22"),
        pytest.param([{"a:1": 9000}], [100], id="no more than all"),
    ],
)
def test_large_images_that_are_there_speak_for_a_node(
    nodes: list[dict[str, int]], expected: list[int]
) -> None:
    assert image_scores(["a:1", "b:1"], *nodes) == expected


def test_an_image_is_worth_the_more_the_more_nodes_have_it() -> None:
    alone = image_scores(["a:1"], {"a:1": 500}, {}, {}, {})
    shared = image_scores(["a:1"], {"a:1": 500}, {"a:1": 500}, {"a:1": 500}, {})

    assert alone == [10, 0, 0, 0]
    assert shared == [36, 36, 36, 0]


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("app", "app:latest"),
        ("registry:5000/app", "registry:5000/app:latest"),
        ("registry:5000/app:2", "registry:5000/app:2"),
        ("app@sha256:12", "app@sha256:12"),
    ],
)
def test_a_name_without_a_tag_means_the_latest(asked: str, there: str) -> None:
    assert image_scores([asked], {there: 1000}) == [100]


def test_an_image_counts_once_for_each_container_that_uses_it() -> None:
    assert image_scores(["a:1", "a:1"], {"a:1": 500}) == [49]

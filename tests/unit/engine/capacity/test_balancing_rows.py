"""The published cases of balancing and similarity (rows G1 to G7 and S1 to S8 of the peer's tests).

All of them are here.
"""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from springtide.engine.capacity.balancing import Room, balance
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.simulation.templates import Template
from tests.builders import Amount, node, pod, resources
from tests.estimates import template

CUSTOM = "example.com/ready"


def rooms(*sizes: tuple[int, int]) -> list[Room]:
    return [
        Room(name=f"ng{index}", size=size, max_size=maximum)
        for index, (size, maximum) in enumerate(sizes, start=1)
    ]


FOUR = rooms((1, 10), (3, 10), (5, 10), (5, 10))
CAPPED = rooms((1, 3), (3, 10))
THREE = rooms((1, 3), (3, 10), (5, 7))


@pytest.mark.parametrize(
    ("given", "count", "sizes"),
    [
        pytest.param(FOUR, 1, [2, 3, 5, 5], id="G1 one node"),
        pytest.param(FOUR, 2, [3, 3, 5, 5], id="G1 two nodes"),
        pytest.param(FOUR, 4, [4, 4, 5, 5], id="G1 four nodes"),
        pytest.param(FOUR, 5, [5, 4, 5, 5], id="G1 five nodes"),
        pytest.param(FOUR, 10, [6, 6, 6, 6], id="G1 ten nodes"),
        pytest.param(rooms((1, 1)), 1, [1], id="G2 the only group is full"),
        pytest.param(rooms((1, 1), (1, 3)), 1, [1, 2], id="G3 the other one grows"),
        pytest.param(rooms((1, 1), (1, 3)), 5, [1, 3], id="G3 up to its maximum"),
        pytest.param(CAPPED, 4, [3, 5], id="G4"),
        pytest.param(THREE, 9, [3, 8, 7], id="G5"),
        pytest.param(THREE, 900, [3, 10, 7], id="G6"),
        pytest.param(rooms((1, 3), (6, 3)), 1, [2, 6], id="G7 one above its maximum is left alone"),
    ],
)
def test_new_nodes_go_to_the_smallest_groups(
    given: list[Room], count: int, sizes: list[int]
) -> None:
    grown = dict(balance(given, count))

    assert [room.size + grown.get(room.name, 0) for room in given] == sizes


def of(
    *,
    capacity: Mapping[str, Amount] | None = None,
    allocatable: Mapping[str, Amount] | None = None,
    labels: Mapping[str, str] | None = None,
    used: Mapping[str, Amount] | None = None,
) -> Template:
    have = {"cpu": "1000m", "memory": 1000, "pods": 110, **(capacity or {})}
    made = replace(
        node(labels={"character": "one", **(labels or {})}),
        capacity=resources(have),
        allocatable=resources({**have, **(allocatable or {})}),
    )
    return template(made, pods=[pod("agent", others=used)] if used else [])


def differing(label: str) -> tuple[Template, Template]:
    return of(labels={label: "a"}), of(labels={label: "b"})


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        pytest.param((of(), of(capacity={"cpu": "1001m"})), False, id="S1"),
        pytest.param((of(), of(allocatable={"cpu": "999m"})), True, id="S2 a little less"),
        pytest.param((of(), of(allocatable={"cpu": "500m"})), False, id="S2 half"),
        pytest.param((of(), of(capacity={"nvidia.com/gpu": 1})), False, id="S3"),
        pytest.param((of(), of(capacity={"memory": 986})), True, id="S4 within 1.5 percent"),
        pytest.param((of(), of(capacity={"memory": 984})), False, id="S4 beyond"),
        pytest.param(
            (of(capacity={"memory": "16116152Ki"}), of(capacity={"memory": "15944120Ki"})),
            True,
            id="S5 m5.xlarge",
        ),
        pytest.param(
            (of(capacity={"memory": "16116152Ki"}), of(capacity={"memory": "16438475Ki"})),
            False,
            id="S5 beyond",
        ),
        pytest.param(
            (
                of(used={"cpu": "500m", "memory": 500}),
                of(allocatable={"memory": 999}, used={"cpu": "501m", "memory": 501}),
            ),
            True,
            id="S6",
        ),
        *(
            pytest.param(differing(label), True, id=f"S7 {label}")
            for label in (
                "kubernetes.io/hostname",
                "failure-domain.beta.kubernetes.io/zone",
                "topology.kubernetes.io/zone",
                "beta.kubernetes.io/fluentd-ds-ready",
                CUSTOM,
            )
        ),
        pytest.param((of(), of(labels={"more": "yes"})), False, id="S8 a label more"),
        pytest.param((of(), of(labels={"character": "another"})), False, id="S8 another value"),
    ],
)
def test_groups_are_similar_as_published(
    pair: tuple[Template, Template],
    expected: bool,  # noqa: FBT001 - a case
) -> None:
    similarity = Similarity(ignored_labels=frozenset({CUSTOM}))
    one, other = pair

    assert similarity.holds(one, other) is expected
    assert similarity.holds(other, one) is expected

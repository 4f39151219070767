"""NodeResourcesFit by a table of upstream cases, and what the table leaves out."""

from collections.abc import Mapping, Sequence

import pytest

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.framework.node_resources_fit import BITS
from springtide.model.node import Node
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import answer, asked, container, resolvable, unresolvable

AAA, BBB, ODD, HUGE = (
    "example.com/aaa",
    "example.com/bbb",
    "kubernetes.io/something",
    "hugepages-2Mi",
)
HAS: dict[str, str | int] = {
    "cpu": "10m",
    "memory": 20,
    "pods": 32,
    AAA: 5,
    "ephemeral-storage": 20,
    HUGE: 5,
}
RULE = "NodeResourcesFit"
CPU, MEMORY = "Insufficient cpu", "Insufficient memory"

Asked = Mapping[str, str | int]


def node(resources: Asked) -> Node:
    return Node(name="node", allocatable=asked(resources))


def small(cpu: int, memory: int) -> dict[str, str | int]:
    return {"cpu": f"{cpu}m", "memory": memory}


def wants(*containers: Asked, init: Sequence[Asked] = (), overhead: Asked | None = None) -> PodSpec:
    return PodSpec(
        containers=tuple(map(container, containers)),
        init_containers=tuple(map(container, init)),
        overhead=asked(overhead or {}),
    )


def short(*reasons: str) -> Refusal:
    return resolvable(RULE, *reasons)


def never(*reasons: str) -> Refusal:
    return unresolvable(RULE, *reasons)


def ignoring(*names: str, groups: Sequence[str] = ()) -> FrameworkConfig:
    return FrameworkConfig(ignored_resources=frozenset(names), ignored_groups=frozenset(groups))


@pytest.mark.parametrize(
    ("spec", "used", "expected"),
    [
        pytest.param(wants(), small(10, 20), None, id="F1"),
        pytest.param(wants(small(1, 1)), small(10, 20), short(CPU, MEMORY), id="F2"),
        pytest.param(wants(small(1, 1), init=[small(3, 1)]), small(8, 19), short(CPU), id="F3"),
        pytest.param(
            wants(small(1, 1), init=[small(3, 1), small(2, 1)]), small(8, 19), short(CPU), id="F4"
        ),
        pytest.param(wants(small(1, 1), init=[small(1, 3)]), small(9, 19), short(MEMORY), id="F5"),
        pytest.param(wants(small(1, 1), init=[small(1, 1)]), small(9, 19), None, id="F6"),
        pytest.param(wants(small(1, 1)), small(5, 5), None, id="F7"),
        pytest.param(wants(small(2, 1)), small(9, 5), short(CPU), id="F8"),
        pytest.param(wants(small(1, 2)), small(5, 19), short(MEMORY), id="F9"),
        pytest.param(wants(small(5, 1)), small(5, 19), None, id="F10"),
        pytest.param(wants({AAA: 10}), {}, never(f"Insufficient {AAA}"), id="F11"),
        pytest.param(wants({AAA: 1}), {AAA: 5}, short(f"Insufficient {AAA}"), id="F12"),
        pytest.param(wants({AAA: 3}, {AAA: 3}), {AAA: 2}, never(f"Insufficient {AAA}"), id="F13"),
        pytest.param(wants({}, init=[{AAA: 3}, {AAA: 3}]), {AAA: 2}, None, id="F14"),
        pytest.param(
            wants({}, init=[{AAA: 6}, {AAA: 3}]), {AAA: 2}, never(f"Insufficient {AAA}"), id="F15"
        ),
        pytest.param(wants({BBB: 1}), {}, never(f"Insufficient {BBB}"), id="F16"),
        pytest.param(wants({HUGE: 10}), {}, never(f"Insufficient {HUGE}"), id="F20"),
        pytest.param(
            wants(small(1, 1), overhead=small(1, 15)), small(5, 5), short(MEMORY), id="F21"
        ),
        pytest.param(wants({AAA: 0}), {AAA: 5}, None, id="F23"),
        pytest.param(wants(small(1, 1)), small(12, 1), short(CPU), id="F24"),
        pytest.param(wants(small(11, 25)), {}, never(CPU, MEMORY), id="F25"),
    ],
)
def test_every_shortage_is_told_and_hopeless_ones_are_unresolvable(
    spec: PodSpec, used: Asked, expected: Refusal | None
) -> None:
    refusal = answer(spec, node(HAS), running=[wants(used)])

    assert refusal == expected


@pytest.mark.parametrize(
    ("name", "config", "expected"),
    [
        pytest.param(BBB, ignoring(BBB), None, id="F17"),
        pytest.param(BBB, ignoring(groups=["example.com"]), None, id="F18"),
        pytest.param(ODD, ignoring(), never(f"Insufficient {ODD}"), id="F19"),
        pytest.param(ODD, ignoring(ODD), never(f"Insufficient {ODD}"), id="F19 by name"),
        pytest.param(
            ODD, ignoring(groups=["kubernetes.io"]), never(f"Insufficient {ODD}"), id="F19 by group"
        ),
        pytest.param("cpu", ignoring("cpu"), never(CPU), id="a native name"),
        pytest.param("plain", ignoring(), None, id="a name that is never counted"),
    ],
)
def test_only_extended_resources_can_be_ignored(
    name: str, config: FrameworkConfig, expected: Refusal | None
) -> None:
    refusal = answer(wants({name: 10}), node(HAS), config=config)

    assert refusal == expected
    assert Framework(config).counts(name) == (expected is not None)


@pytest.mark.parametrize(
    ("room", "running"),
    [pytest.param(1, [wants()], id="F22"), pytest.param(0, [], id="a node that takes no pods")],
)
def test_a_node_without_room_for_a_pod_is_worth_an_eviction(
    room: int, running: Sequence[PodSpec]
) -> None:
    refusal = answer(wants(), node(HAS | {"pods": room}), running=running)

    assert refusal == short("Too many pods")


def test_shortages_are_told_in_a_fixed_order() -> None:
    spec = wants({"vendor.io/b": 1, "vendor.io/a": 1, "ephemeral-storage": 99, "cpu": 1})

    refusal = answer(spec, node(HAS | {"pods": 0}))

    assert refusal == never(
        "Too many pods",
        CPU,
        "Insufficient ephemeral-storage",
        "Insufficient vendor.io/a",
        "Insufficient vendor.io/b",
    )


def test_more_resources_than_bits_still_refuse() -> None:
    names = [f"vendor.io/r{index:03}" for index in range(BITS + 10)]
    everything: dict[str, str | int] = dict.fromkeys(names, 1)

    last = answer(wants(everything), node({**HAS, **dict.fromkeys(names[:-1], 1)}))
    none = answer(wants(everything), node(HAS))

    assert last == never(f"Insufficient {names[BITS - 2]}")
    assert none == never(*(f"Insufficient {name}" for name in names[: BITS - 1]))

"""Laws of a replay: it is sound, it repeats, and it depends on nothing but the input and the policy."""

import random
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.apps.planner.families import families, policy_table
from springtide.apps.replay import Request, run
from springtide.apps.replay.policies import policies
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.engine.replay import Turn, arrivals, placed_in_turn, turns
from springtide.model.device import Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.wire.documents import Input
from tests.builders import card, node, pod
from tests.replays import VGPU_NODE
from tests.world import FixedClock

NAMES = (
    "binpack/spread",
    "binpack/binpack",
    "spread/spread",
    "spread/binpack",
    "fragmentation/fragmentation",
)
CARDS = st.lists(
    st.builds(
        card,
        memory=st.sampled_from([10000, 24576]),
        slots=st.sampled_from([1, 10]),
        model=st.sampled_from(["NVIDIA-A10", "NVIDIA-A100"]),
    ),
    max_size=3,
)


def _node(index: int, cpu: int, devices: Sequence[Device]) -> Node:
    own = tuple(
        replace(each, id=f"GPU-{index}-{place}", index=place) for place, each in enumerate(devices)
    )
    return node(f"node-{index}", cpu=cpu, cards=own)


NODES = st.lists(st.tuples(st.sampled_from([1, 4, 16]), CARDS), min_size=1, max_size=4).map(
    lambda drawn: [_node(index, cpu, devices) for index, (cpu, devices) in enumerate(drawn)]
)
PLAIN = st.builds(pod, cpu=st.sampled_from(["0", "500m", "2"]))
ON_CARDS = st.builds(
    pod,
    cpu=st.sampled_from(["0", "500m", "2"]),
    gpu=st.sampled_from([1, 1, 2]),
    gpumem=st.sampled_from([1000, 6000, 10000]),
    gpucores=st.sampled_from([0, 40, 100]),
    annotations=st.sampled_from([{}, {}, {}, {"hami.io/node-scheduler-policy": "spread"}]),
)


def _named(pods: Sequence[tuple[Pod, int, int]]) -> list[Pod]:
    """Return the pods under names of their own, created at a time, some of them on a node."""
    return [
        replace(
            each,
            name=f"pod-{number}",
            uid=f"uid-{number}",
            created=f"2026-11-30T06:00:{at:02}Z" if at else "",
            node_name=f"node-{on}" if on >= 0 else "",
            annotations={**each.annotations, **({VGPU_NODE: f"node-{on}"} if on >= 0 else {})},
        )
        for number, (each, at, on) in enumerate(pods)
    ]


PODS = st.lists(
    st.tuples(PLAIN | ON_CARDS | ON_CARDS, st.integers(0, 9), st.sampled_from([-1, -1, 0])),
    min_size=1,
    max_size=14,
).map(_named)
STAYS = st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 12)), min_size=14)


def _ledger(nodes: Sequence[Node], known: dict[str, DeviceFamily]) -> Ledger:
    ledger = Ledger()
    for each in nodes:
        found = {name: family.inventory(each) for name, family in known.items()}
        ledger.add_node(
            each, {name: item for name, item in found.items() if isinstance(item, Inventory)}
        )
    return ledger


def _stage(nodes: Sequence[Node], name: str) -> tuple[Tables, Classifier]:
    own = policies(name)
    known = families(None, own)
    ignored = frozenset(name for family in known.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=ignored))
    table = policy_table(known, own)
    return Tables(_ledger(nodes, known), framework, known, policies=table), Classifier(known)


def _beyond(ledger: Ledger) -> Iterator[str]:
    """Yield what is in use beyond its total, but for resources that devices stand for."""
    yield from (each for each in ledger.overcommitted() if "/nvidia.com/" not in each)
    for columns in ledger.devices.values():
        if (columns.cores_used > columns.cores_total).any():
            yield f"{columns.family} cores"


def _order(stays: Sequence[tuple[int, int | None]], count: int) -> tuple[Turn, ...]:
    came = sorted(at for at, _ in stays[:count])
    return turns(came, [went for _, went in stays[:count]])


@settings(max_examples=60, deadline=None)
@given(nodes=NODES, pods=PODS, stays=STAYS, name=st.sampled_from(NAMES))
def test_every_placement_stands_in_the_ledger_and_nothing_is_given_twice(
    nodes: list[Node], pods: list[Pod], stays: list[tuple[int, int | None]], name: str
) -> None:
    tables, classifier = _stage(nodes, name)
    coming = [replace(each, node_name="") for each in pods]

    for answer in placed_in_turn(coming, _order(stays, len(pods)), classifier, tables):
        tables.ledger.check()
        assert list(_beyond(tables.ledger)) == []
        if answer.placement is None:
            fresh = Tables(tables.ledger, tables.framework, tables.families)
            rows = range(tables.ledger.count)
            assert all(isinstance(fresh.place(answer.pod_class, row), Refusal) for row in rows)


@settings(max_examples=40, deadline=None)
@given(nodes=NODES, pods=PODS, name=st.sampled_from(NAMES))
def test_the_same_pods_under_the_same_policy_go_the_same_way(
    nodes: list[Node], pods: list[Pod], name: str
) -> None:
    coming = [replace(each, node_name="") for each in pods]

    runs = [
        [each.placement for each in placed_in_turn(coming, arrivals(len(coming)), *stage[::-1])]
        for stage in (_stage(nodes, name), _stage(nodes, name))
    ]

    assert runs[0] == runs[1]


@settings(max_examples=40, deadline=None)
@given(
    nodes=NODES,
    pods=PODS,
    names=st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)),
    seed=st.integers(0, 99),
)
def test_the_order_of_the_input_changes_nothing(
    nodes: list[Node], pods: list[Pod], names: tuple[str, str], seed: int
) -> None:
    request = Request(policy=names[0], against=names[1])
    rng = random.Random(seed)
    found = Input(nodes=tuple(nodes), pods=tuple(pods))
    shuffled = Input(
        nodes=tuple(rng.sample(nodes, len(nodes))), pods=tuple(rng.sample(pods, len(pods)))
    )

    first = run(found, request, clock=FixedClock())
    second = run(shuffled, request, clock=FixedClock())

    assert first == second
    assert first.is_same or names[0] != names[1]


@settings(max_examples=40, deadline=None)
@given(nodes=NODES, pods=PODS, names=st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)))
def test_the_numbers_of_a_report_add_up(
    nodes: list[Node], pods: list[Pod], names: tuple[str, str]
) -> None:
    found = Input(nodes=tuple(nodes), pods=tuple(pods))

    report = run(found, Request(policy=names[0], against=names[1]), clock=FixedClock())

    changes = report.changes
    counts = (changes.placed, changes.refused, changes.node, changes.devices)
    assert sum(counts) == len(report.differences)
    first, second = report.runs[:2]
    assert second.placed - first.placed == changes.placed - changes.refused
    for each in report.runs:
        assert each.placed + each.refused == report.pods
        assert sum(reason.pods for reason in each.reasons) == each.refused
        for family in each.families:
            assert 0 <= family.unusable_mib <= family.free_mib <= family.memory_mib
    assert len(first.emptied) - len(second.emptied) == second.nodes_in_use - first.nodes_in_use

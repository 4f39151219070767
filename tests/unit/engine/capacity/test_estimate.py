"""The estimator's published cases, and what devices add to them."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.base import quantity
from springtide.engine.capacity.estimate import estimate
from springtide.engine.capacity.fastpath import best_for_fastpath
from springtide.engine.capacity.packing import NOT_SIMULATED
from springtide.engine.capacity.start import begin
from springtide.model.ledger import Ledger
from springtide.model.neighbours import Neighbours
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import ContainerResize, Pod, Resize
from springtide.model.resources import amounts
from tests.builders import away, card, cards, mig_card, node, pod, replicas, spread, term
from tests.estimates import batched, estimated, limiter, tables_of, template


def small_node(*, cpu: str, memory: str, pods: int = 10) -> Node:
    return node("template", cpu=cpu, memory=memory, pods=pods)


E1 = (small_node(cpu="1", memory="2000Mi"), replicas(10, pod(cpu="350m", memory="1000Mi")), 0)
E2 = (small_node(cpu="10", memory="20000Mi"), replicas(20, pod(cpu="10m", memory="100Mi")), 0)
E3 = (small_node(cpu="1", memory="5000Mi"), replicas(8, pod(cpu="200m", ports=[5555])), 0)
E4 = (small_node(cpu="1", memory="5000Mi"), replicas(20, pod(cpu="500m", memory="1000Mi")), 5)


@pytest.mark.parametrize(
    ("case", "nodes", "pods"),
    [
        pytest.param(E1, 5, 10, id="E1 two of three thirds"),
        pytest.param(E2, 2, 20, id="E2 the number of pods counts"),
        pytest.param(E3, 8, 8, id="E3 one host port a node"),
        pytest.param(E4, 5, 10, id="E4 at most five nodes"),
    ],
)
@pytest.mark.parametrize("fastpath", [False, True], ids=["packed", "E9 counted"])
def test_e1_to_e4_and_e9(
    case: tuple[Node, tuple[Pod, ...], int], nodes: int, pods: int, *, fastpath: bool
) -> None:
    of, pending, nodes_max = case

    answer = estimated(template(of), [pending], nodes_max=nodes_max, fastpath=fastpath)

    assert (answer.node_count, len(answer.placed)) == (nodes, pods)
    assert answer.is_limited is (pods < len(pending))


def test_e5_large_pods_take_the_permitted_nodes_first() -> None:
    small = replicas(10, pod("small", cpu="50m", memory=0))
    large = replicas(10, pod("large", cpu="500m", memory="1000Mi"))

    answer = estimated(
        template(small_node(cpu="1", memory="5000Mi", pods=2)), [small, large], nodes_max=5
    )

    assert answer.node_count == 5
    assert answer.placed == large
    assert answer.left == small
    assert answer.is_limited


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([(5, 30, 5), (3, 50, 6)], 0, id="E10"),
        pytest.param([(6, 30, 5), (5, 90, 90)], 1, id="E11"),
        pytest.param([(3, 80, 80), (3, 70, 70), (4, 50, 5)], 2, id="E12 the later of equals"),
        pytest.param([(2, 0, 0), (4, 0, 0)], 1, id="E14 nothing asked"),
        pytest.param([(2, 60, 60), (100, 1, 1)], 0, id="E15 one node saves nothing"),
    ],
)
def test_e10_to_e15_the_batch_that_saves_most_is_counted(
    sizes: Sequence[tuple[int, int, int]], expected: int
) -> None:
    items = batched(
        [
            replicas(count, pod(str(index), cpu=f"{cpu}m", memory=memory))
            for index, (count, cpu, memory) in enumerate(sizes)
        ]
    )

    best = best_for_fastpath(items, {"cpu": 100, "memory": 100})

    assert best is items[expected]


@pytest.mark.parametrize(
    "neighbours",
    [spread(HOSTNAME_LABEL), spread("zone"), away("zone", "a")],
    ids=["spread", "zonal spread", "zonal anti-affinity"],
)
def test_e13_pods_that_look_beyond_their_node_are_never_merely_counted(
    neighbours: Neighbours,
) -> None:
    items = batched([replicas(3, pod(cpu="10m", neighbours=neighbours))])

    assert best_for_fastpath(items, amounts(node().capacity)) is None


def test_pods_that_keep_their_like_off_their_node_are_counted_one_a_node() -> None:
    pending = replicas(4, pod(cpu="10m", labels={"app": "a"}, neighbours=away(HOSTNAME_LABEL, "a")))

    answer = estimated(template(node("template")), [pending], fastpath=True)

    assert [len(each.pods) for each in answer.nodes] == [1, 1, 1, 1]
    assert answer.nodes[1].name.startswith(NOT_SIMULATED)


JUPITER = {HOSTNAME_LABEL: "oldnode", "zone": "jupiter"}
MARS = {HOSTNAME_LABEL: "template", "zone": "mars"}


@pytest.mark.parametrize(
    ("count", "cpu", "neighbours", "nodes", "placed"),
    [
        pytest.param(8, "200m", spread(HOSTNAME_LABEL, skew=2), 4, 8, id="E6"),
        pytest.param(8, "20m", spread("zone", skew=2), 1, 2, id="E7"),
        pytest.param(12, "20m", spread(HOSTNAME_LABEL, domains_min=3), 3, 12, id="E8"),
    ],
)
def test_e6_to_e8_pods_that_are_spread(
    count: int, cpu: str, neighbours: Neighbours, nodes: int, placed: int
) -> None:
    overlay = Overlay(Ledger())
    overlay.ledger.add_node(node("oldnode", cpu="100m", memory="100Mi", pods=10, labels=JUPITER))
    pending = replicas(count, pod(cpu=cpu, memory=100, labels={"app": "a"}, neighbours=neighbours))
    (batch,) = batched([pending])
    of = node("template", cpu="1", memory="5000Mi", pods=10, labels=MARS)
    start = begin(template(of), tables_of(overlay.ledger), overlay, [batch.pod_class])

    with overlay.trial():
        answer = estimate([batch], start, limiter())

    assert (answer.node_count + len(answer.elsewhere), len(answer.placed)) == (nodes, placed)
    overlay.ledger.check()


def test_counted_nodes_are_named_so_and_hold_their_pods() -> None:
    of, pending, _ = E2

    answer = estimated(template(of), [pending], fastpath=True)

    first, second = answer.nodes
    assert first.name == "template-e-0"
    assert second.name.startswith(NOT_SIMULATED)
    assert (first.pods, second.pods) == (pending[:10], pending[10:])


def test_the_counted_batch_leaves_room_on_earlier_nodes_to_others() -> None:
    small = replicas(4, pod("small", cpu="100m"))
    many = replicas(20, pod("many", cpu="300m"))

    answer = estimated(
        template(small_node(cpu="1", memory="1Gi")), [many, small], nodes_max=4, fastpath=True
    )

    assert len(answer.placed) == 15
    assert answer.left == many[11:]


def test_nothing_is_counted_once_no_node_is_permitted() -> None:
    large = replicas(1, pod("large", cpu="900m"))
    many = replicas(20, pod("many", cpu="300m"))

    answer = estimated(
        template(small_node(cpu="1", memory="1Gi")), [large, many], nodes_max=1, fastpath=True
    )

    assert (answer.placed, answer.left) == (large, many)
    assert answer.is_limited


def test_a_counted_batch_that_fits_no_node_costs_none() -> None:
    huge = replicas(20, pod("huge", cpu="3", others={"example.com/x": 1}))

    answer = estimated(template(node()), [huge], fastpath=True)

    assert (answer.node_count, answer.left) == (0, huge)


def test_pods_that_look_at_names_are_packed_even_if_counting_is_on() -> None:
    pending = by_name(replicas(20, pod(cpu="300m")))

    answer = estimated(
        template(small_node(cpu="1", memory="1Gi")), [pending], nodes_max=4, fastpath=True
    )

    assert [item.name for item in answer.nodes] == [f"template-e-{index}" for index in range(4)]
    assert answer.left == pending[12:]
    assert answer.is_limited


def test_batches_search_on_behind_the_last_match() -> None:
    fillers = [replicas(1, pod(f"fill-{index}", cpu="700m")) for index in range(3)]
    crumbs = [replicas(1, pod(f"crumb-{index}", cpu="50m")) for index in range(4)]

    answer = estimated(template(small_node(cpu="1", memory="1Gi")), [*fillers, *crumbs])

    assert [[each.name for each in item.pods] for item in answer.nodes] == [
        ["fill-0-0", "crumb-0-0", "crumb-3-0"],
        ["fill-1-0", "crumb-1-0"],
        ["fill-2-0", "crumb-2-0"],
    ]


def test_a_batch_that_fits_no_empty_node_costs_no_node() -> None:
    whole = replicas(2, pod("whole", cpu="8"))
    huge = replicas(2, pod("huge", cpu="9"))

    answer = estimated(template(node(cpu=8)), [huge, whole])

    # The empty node that the huge pods did not fit is used by the others.
    assert [item.name for item in answer.nodes] == ["node-e-0", "node-e-1"]
    assert answer.left == huge
    assert not answer.is_limited


def test_an_empty_node_that_did_not_help_is_not_followed_by_another() -> None:
    huge, larger = replicas(1, pod("huge", cpu="9")), replicas(1, pod("larger", cpu="10"))

    answer = estimated(template(node(cpu=8)), [huge, larger], nodes_max=1)

    assert answer.node_count == 0
    assert not answer.is_limited


def test_pods_of_the_template_take_their_part_of_every_new_node() -> None:
    agent = pod("agent", cpu="500m", ports=[9100])

    answer = estimated(
        template(small_node(cpu="1", memory="1Gi"), pods=[agent]),
        [replicas(4, pod(cpu="250m")), replicas(1, pod("clash", ports=[9100]))],
    )

    assert answer.node_count == 2
    assert [each.name for each in answer.left] == ["clash-0"]


def test_a_resize_in_progress_on_the_template_counts_with_the_larger_amount() -> None:
    agent = pod("agent", cpu="100m")
    allocated = (("cpu", quantity.parse("600m")),)
    growing = replace(
        agent, resize=Resize(containers=(ContainerResize(name="main", allocated=allocated),))
    )
    pending = replicas(2, pod(cpu="300m"))

    packed = estimated(template(node(cpu=1), pods=[growing]), [pending])
    stepped = estimated(template(node(cpu=1), pods=[growing]), [by_name(pending)])

    assert packed.node_count == stepped.node_count == 2


def test_a_cordoned_template_takes_pods_on_its_last_node_only() -> None:
    tolerant = pod("tolerant", cpu="100m")

    answer = estimated(template(node(is_unschedulable=True)), [replicas(2, tolerant)])

    assert answer.node_count == 0


def test_pods_that_name_their_node_are_placed_one_by_one() -> None:
    chosen = term("kubernetes.io/hostname", "In", "node-e-1")
    picky = replicas(2, pod("picky", cpu="100m", terms=(chosen,)))

    answer = estimated(template(node(cpu=1)), [replicas(4, pod("plain", cpu="500m")), picky])

    assert answer.node_count == 2
    assert answer.left == picky


def test_devices_are_packed_card_by_card() -> None:
    pending = replicas(5, pod(gpu=1, gpumem=10240))

    answer = estimated(template(node(), devices=cards(1)), [pending])

    assert [len(item.pods) for item in answer.nodes] == [2, 2, 1]
    (totals,) = answer.devices
    assert (totals.memory_used_mib, totals.memory_total_mib) == (5 * 10240, 3 * 24576)


def test_mig_instances_are_packed_by_their_placements() -> None:
    halves = replicas(3, pod("half", gpu=1, gpumem=20000))
    smalls = replicas(5, pod("small", gpu=1, gpumem=5000))

    answer = estimated(template(node(), devices=[mig_card()]), [halves, smalls])

    assert [len(item.pods) for item in answer.nodes] == [2, 5, 1]
    assert answer.left == ()


def test_counted_nodes_count_as_devices_too() -> None:
    pending = replicas(7, pod(gpu=1, gpumem=10240))

    packed = estimated(template(node(), devices=cards(1)), [pending])
    counted = estimated(template(node(), devices=cards(1)), [pending], fastpath=True)

    assert counted.node_count == packed.node_count == 4
    assert counted.devices[0].memory_total_mib == packed.devices[0].memory_total_mib


def test_pods_of_two_kinds_share_cards() -> None:
    answer = estimated(
        template(node(), devices=[card(memory=10000)]),
        [replicas(3, pod("a", gpu=1, gpumem=6000)), replicas(3, pod("b", gpu=1, gpumem=4000))],
    )

    assert answer.node_count == 3


def test_nodes_in_different_states_advance_once_for_a_pod_each() -> None:
    first = replicas(1, pod("first", cpu="500m", gpu=1, gpumem=1000))
    spacer = replicas(1, pod("spacer", cpu="600m"))
    both = replicas(2, pod("both", gpu=1, gpumem=1000))

    answer = estimated(template(node(cpu=1), devices=cards(1)), [spacer, first, both])

    assert [len(item.pods) for item in answer.nodes] == [2, 2]
    assert answer.devices[0].memory_used_mib == 3000


def by_name(pods: Sequence[Pod]) -> tuple[Pod, ...]:
    anywhere = term("kubernetes.io/hostname", "NotIn", "nobody")
    return tuple(
        replace(each, spec=replace(each.spec, required_node_terms=(anywhere,))) for each in pods
    )

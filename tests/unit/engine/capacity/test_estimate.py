"""The estimator beside its published cases (`test_estimator_rows`), and what devices add to them."""

from collections.abc import Sequence

from msgspec.structs import replace

from springtide.base import quantity
from springtide.engine.capacity.packing import NOT_SIMULATED
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import ContainerResize, Pod, Resize
from tests.builders import away, card, cards, mig_card, node, pod, replicas, term
from tests.estimates import estimated, template


def small_node(*, cpu: str, memory: str, pods: int = 10) -> Node:
    return node("template", cpu=cpu, memory=memory, pods=pods)


def test_pods_that_keep_their_like_off_their_node_are_counted_one_a_node() -> None:
    pending = replicas(4, pod(cpu="10m", labels={"app": "a"}, neighbours=away(HOSTNAME_LABEL, "a")))

    answer = estimated(template(node("template")), [pending], fastpath=True)

    assert [len(each.pods) for each in answer.nodes] == [1, 1, 1, 1]
    assert answer.nodes[1].name.startswith(NOT_SIMULATED)


def test_counted_nodes_are_named_so_and_hold_their_pods() -> None:
    of = small_node(cpu="10", memory="20000Mi")
    pending = replicas(20, pod(cpu="10m", memory="100Mi"))

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

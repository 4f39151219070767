"""Headroom of whole inputs: which asks are answered for, pools, occupancy and limits."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.apps.headroom import HeadroomReport, Request, run
from springtide.apps.headroom.pools import UnknownLabel
from springtide.apps.headroom.report import AskReport
from springtide.apps.headroom.written import InvalidAsk
from springtide.apps.planner.report import GangPlaces
from springtide.base.selectors import compile_selector, label_selector
from springtide.base.taints import Taint
from springtide.model.gang import GangApi
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.pod import GangLink, Owner, Pod, PodClaim
from springtide.wire.documents import Input
from tests.builders import card, cards, node, pod
from tests.world import FixedClock

A100 = "NVIDIA-A100"
A10 = "NVIDIA-A10"


def report(
    *nodes: Node,
    pods: Sequence[Pod] = (),
    groups: Sequence[NodeGroup] = (),
    manifests: Sequence[Pod] = (),
    request: Request | None = None,
) -> HeadroomReport:
    """Return the report for these objects."""
    found = Input(nodes=nodes, pods=tuple(pods), groups=tuple(groups))
    return run(found, request or Request(), clock=FixedClock(), manifests=manifests)


def only(answer: HeadroomReport) -> AskReport:
    """Return the only ask."""
    (ask,) = answer.asks
    return ask


def given(*nodes: Node, ask: str) -> AskReport:
    """Return the answer for one ask."""
    return only(report(*nodes, request=Request(asks=(ask,))))


def replica(name: str, of: str, like: Pod) -> Pod:
    """Return a pod of a ReplicaSet that its Deployment named with a hash."""
    owner = Owner(kind="ReplicaSet", name=f"{of}-5d4f", uid=of)
    labels = {"pod-template-hash": "5d4f"}
    return replace(like, name=name, uid=name, owner=owner, labels=labels)


def group_of(name: str, **labels: str) -> NodeGroup:
    """Return a group of the nodes with these labels."""
    return NodeGroup(name=name, max_size=9, selector=compile_selector(label_selector(labels)))


# Asks of pods


def test_equal_asks_are_one_whoever_asks() -> None:
    first = replica("web-1", "web", pod(cpu=1, on="node"))
    second = replica("web-2", "web", pod(cpu=1, priority=7))
    other = replica("api-1", "api", pod(cpu=1))

    answer = report(node(), pods=[first, second, other], request=Request(about=("pods",)))

    ask = only(answer)
    assert (ask.name, ask.workloads) == ("default/web", ("default/web", "default/api"))
    assert (ask.running, ask.waiting, ask.more) == (1, 2, 7)


def test_the_most_frequent_asks_come_first_and_the_rest_is_counted() -> None:
    few = [pod("few", cpu=2)]
    many = [pod(f"many-{number}", cpu=1) for number in range(3)]

    answer = report(node(), pods=[*few, *many], request=Request(about=("pods",), asks_max=1))

    assert [ask.text for ask in answer.asks] == ["cpu=1"]
    assert answer.asks_left_out == 1


def test_daemons_and_finished_pods_ask_for_nothing_more() -> None:
    finished = replace(pod("done", cpu=1), phase="Succeeded")

    answer = report(node(), pods=[pod("agent", daemon_of="agent"), finished])

    assert not [ask for ask in answer.asks if ask.source == "Pods"]


def test_a_running_pod_may_be_one_more_on_another_node() -> None:
    nodes = [node("a", cpu=2), node("b", cpu=3)]

    answer = report(*nodes, pods=[pod(cpu=1, on="a")], request=Request(about=("pods",)))

    assert only(answer).more == 1 + 3


def test_pods_that_claim_devices_are_counted_and_not_asked_about() -> None:
    claims = replace(pod("claims", cpu=1).spec, device_claims=(PodClaim(name="a", claim="b"),))
    claiming = replace(pod("claims"), spec=claims)

    answer = report(node(), pods=[claiming], request=Request(about=("pods",)))
    given_one = only(report(node(), manifests=[claiming]))

    assert answer.asks == ()
    assert "1 pod claims devices (resourceClaims) and is not asked about." in answer.input.notes
    assert given_one.denied.startswith("it claims devices")


# The ladder


def test_the_ladder_has_parts_and_whole_devices_of_every_type() -> None:
    small = node("small", cards=(card(model=A10, memory=24000),))
    large = node("large", cards=[card(f"GPU-{n}", model=A100, memory=80000) for n in range(4)])

    answer = report(small, large, request=Request(about=("ladder",)))

    more = {(ask.device, ask.portion): ask.more for ask in answer.asks}
    assert more == {
        ("A10", "1/8"): 8,
        ("A10", "1/4"): 4,
        ("A10", "1/2"): 2,
        ("A10", "1"): 1,
        ("A100", "1/8"): 32,
        ("A100", "1/4"): 16,
        ("A100", "1/2"): 8,
        ("A100", "1"): 4,
        ("A100", "2"): 2,
        ("A100", "4"): 1,
    }


def test_the_ladder_tolerates_what_keeps_others_off_devices() -> None:
    tainted = node(cards=cards(2), taints=[Taint(key="nvidia.com/gpu", value="present")])

    answer = report(tainted, request=Request(about=("ladder",)))

    assert [ask.more for ask in answer.asks if ask.portion == "1"] == [2]


def test_the_ladder_tolerates_no_mark_of_kubernetes() -> None:
    lost = node(cards=cards(2), taints=[Taint(key="node.kubernetes.io/unreachable")])

    answer = report(lost, request=Request(about=("ladder",)))

    assert {ask.more for ask in answer.asks} == {0}


def test_without_devices_the_ladder_is_cpu_and_memory() -> None:
    answer = report(node(cpu=8, memory="64Gi"), request=Request(about=("ladder",)))

    assert answer.asks[0].text == "cpu=1 memory=4Gi"
    assert [ask.more for ask in answer.asks] == [8, 4, 2, 1, 0]


# Given asks


@pytest.mark.parametrize(
    ("ask", "more"),
    [
        ("cpu=2", 4),
        ("gpu=1,gpumem=8000", 6),
        ("nvidia.com/gpu=1, nvidia.com/gpumem=8000", 6),
        ("gpu=1", 2),
        ("gpu=1,gpumem=8000,cpu=4", 2),
        ("gpu=1,type=a10", 2),
    ],
)
def test_an_ask_is_written_with_short_or_long_names(ask: str, more: int) -> None:
    there = node(cpu=8, cards=cards(2))

    assert given(there, ask=ask).more == more


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("gpumm=1", "there is no resource gpumm. Did you mean gpumem?"),
        ("cpu", "'cpu' is no NAME=AMOUNT, such as cpu=4."),
        ("cpu=many", 'Quantity "many" is malformed'),
        ("cpu=-1", "cpu=-1 is negative"),
        ("", "asks for nothing"),
        ("type=a10", "asks for nothing"),
        ("gpu=1,type=h100", "no device has a type with 'h100'; there are NVIDIA-A10."),
    ],
)
def test_an_ask_that_makes_no_sense_is_answered_with_the_remedy(ask: str, message: str) -> None:
    with pytest.raises(InvalidAsk) as fault:
        given(node(cards=cards(1)), ask=ask)

    assert message in str(fault.value)


def test_an_ask_that_admission_denies_is_told_so() -> None:
    ask = given(node(cards=cards(1)), ask="gpu=1,gpumem=16Gi")

    assert ask.more == 0
    assert ask.denied.endswith("memory is counted in MiB: write 16384")


def test_given_asks_are_answered_alone() -> None:
    answer = report(node(), pods=[pod(cpu=1)], request=Request(asks=("cpu=1",)))

    assert [ask.source for ask in answer.asks] == ["Given"]
    assert answer.summary.startswith("8 more with cpu=1 fit on one node.")


def test_a_manifest_is_asked_about_with_its_own_rules() -> None:
    manifest = pod("new", cpu=1, selector={"zone": "b"})
    nodes = [node("a", cpu=4), node("b", cpu=3, labels={"zone": "b"})]

    ask = only(report(*nodes, manifests=[manifest, replace(manifest, name="x", uid="x")]))

    assert (ask.name, ask.more, ask.node) == ("default/new", 3, "b")


# Pools


def test_node_groups_are_the_pools() -> None:
    nodes = [node("a", labels={"pool": "x"}), node("b")]

    answer = report(*nodes, groups=[group_of("x", pool="x")])

    assert answer.pools_by == "group"
    assert [(pool.name, pool.nodes) for pool in answer.pools] == [("x", 1), ("(no group)", 1)]


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("", ["m5", "(no label)"]),
        ("zone", ["a", "b"]),
        ("devices", ["NVIDIA-A10", "(no devices)"]),
    ],
)
def test_pools_are_told_apart_by_a_label_or_by_devices(by: str, names: list[str]) -> None:
    first = node(
        "a", cards=cards(1), labels={"zone": "a", "node.kubernetes.io/instance-type": "m5"}
    )

    answer = report(first, node("b", labels={"zone": "b"}), request=Request(by=by))

    assert [pool.name for pool in answer.pools] == names


def test_a_label_that_no_node_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownLabel, match=r"Did you mean zone\?"):
        report(node(labels={"zone": "a"}), request=Request(by="zon"))


def test_room_is_told_by_pool_with_what_ends_it() -> None:
    small, large = node("a", cpu=1, labels={"zone": "a"}), node("b", cpu=9, labels={"zone": "b"})

    ask = only(report(small, large, request=Request(asks=("cpu=2",), by="zone")))

    first, second = ask.pools
    assert (first.more, second.more, second.on_one_node, second.nodes) == (0, 4, 4, 1)
    assert [(limit.reason, limit.is_lasting) for limit in first.limits] == [
        ("Insufficient cpu", True)
    ]
    assert [(limit.nodes, limit.is_lasting) for limit in ask.limits] == [(1, False), (1, True)]


def test_limits_of_devices_count_devices() -> None:
    ask = given(node(cards=cards(4)), ask="gpu=1,gpumem=20000")

    assert [(limit.reason, limit.nodes, limit.devices) for limit in ask.limits] == [
        ("CardInsufficientMemory", 1, 4)
    ]


# Occupancy


def test_devices_are_summed_and_counted_by_free_memory() -> None:
    sick = card("GPU-3", memory=1000, is_healthy=False)
    devices = [card(f"GPU-{n}", memory=1000) for n in range(3)]
    holds = {"hami.io/vgpu-devices-allocated": "GPU-0,NVIDIA,1000,10:;", "hami.io/vgpu-node": "n"}
    part = {"hami.io/vgpu-devices-allocated": "GPU-1,NVIDIA,300,10:;", "hami.io/vgpu-node": "n"}
    running = [
        pod("whole", gpu=1, on="n", annotations=holds),
        pod("part", gpu=1, on="n", annotations=part),
    ]

    answer = report(node("n", cards=[*devices, sick]), pods=running)

    (found,) = answer.pools[0].devices
    assert (found.devices, found.unused, found.unhealthy) == (4, 1, 1)
    assert (found.memory_used_mib, found.memory_mib, found.cores_used) == (1300, 4000, 20)
    assert found.free_memory == (1, 0, 0, 1, 0, 1)


def test_without_nodes_the_answer_says_so() -> None:
    answer = report(request=Request(asks=("cpu=1",)))

    assert answer.summary == "There is no node in the input, so nothing fits."
    assert only(answer).more == 0


# Gangs


def test_gangs_that_wait_are_placed_one_by_one_and_leave_nothing_behind() -> None:
    link = GangLink(api=GangApi.ANNOTATION, name="train", minimum="3")
    gang = [replace(pod(f"p{index}", cpu="400m"), gang_links=(link,)) for index in range(3)]

    short = report(node(cpu=1), pods=gang, request=Request(about=("pods",)))
    wide = report(node(cpu=2), pods=gang, request=Request(about=("pods",)))

    assert short.gangs == (GangPlaces(name="default/train", minimum=3, running=2, short_by=1),)
    assert wide.gangs == (GangPlaces(name="default/train", minimum=3, running=3, short_by=0),)
    assert only(short).more == 2

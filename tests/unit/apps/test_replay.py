"""Replays of whole inputs: who comes, who stays, what is recorded and what is said of it."""

import pytest
from msgspec.structs import replace

from springtide.apps.planner.setting import InvalidInput
from springtide.apps.replay import ReplayReport, Request
from springtide.apps.replay.report import ChangesReport, ReasonPods
from springtide.model.gang import GangApi
from springtide.model.node import Node
from springtide.model.pod import MIRROR_ANNOTATION, GangLink, Pod, PodClaim
from tests.builders import card, cards, node, pod, replicas
from tests.replays import ALLOCATED, BOTH, created, places, replayed, running, under

RECORDED = Request()
ONE = pod("one", gpu=1, gpumem=8000)


def pair() -> tuple[Node, Node]:
    """Return two nodes of two cards."""
    first, second = (tuple(card(f"GPU-{name}{index}") for index in range(2)) for name in ("a", "b"))
    return node("a", cards=first), node("b", cards=second)


def spread_out() -> tuple[Pod, ...]:
    """Return two small pods and one that asks for two whole cards, in this order."""
    whole = pod("whole", gpu=2, gpumem=24576, gpucores=100)
    small = replicas(2, ONE)
    return (*(created(at, each) for at, each in enumerate(small)), created(9, whole))


def notes(report: ReplayReport) -> str:
    """Return what is said of the input."""
    return " ".join(report.input.notes)


# What differs


def test_packing_leaves_room_that_spreading_does_not() -> None:
    report = replayed(*pair(), pods=spread_out())

    packed, spread = under(report, "binpack/spread"), under(report, "spread/spread")
    assert (packed.placed, packed.refused, packed.nodes_in_use) == (3, 0, 2)
    assert (spread.placed, spread.refused) == (2, 1)
    assert spread.reasons == (ReasonPods(reason="CardInsufficientMemory", pods=1),)
    assert report.changes == ChangesReport(refused=1, node=1)
    assert not report.is_same


def test_every_pod_that_differs_is_told_with_both_decisions() -> None:
    report = replayed(*pair(), pods=spread_out())

    moved, refused = report.differences
    assert (moved.pod, moved.order, moved.change) == ("default/one-1", 2, "Node")
    assert places(moved) == ("a", "b")
    assert moved.created == "2026-11-30T06:00:01Z"
    assert (refused.pod, refused.change) == ("default/whole", "Refused")
    assert places(refused) == ("b", "CardInsufficientMemory")
    first = refused.decisions[1].refusals[0]
    assert (first.reason, first.nodes, first.devices) == ("CardInsufficientMemory", 2, 2)


def test_devices_are_told_by_their_place_on_the_node() -> None:
    request = Request(policy="binpack/binpack", against="binpack/spread")

    report = replayed(*pair(), pods=replicas(2, ONE), request=request)

    (other,) = report.differences
    assert other.change == "Devices"
    assert [each.devices[0].positions for each in other.decisions] == [(1,), (0,)]


def test_nodes_are_named_that_one_policy_leaves_empty() -> None:
    report = replayed(*pair(), pods=replicas(2, ONE))

    assert under(report, "binpack/spread").emptied == ("b",)
    assert under(report, "spread/spread").emptied == ()


def test_the_policy_that_minds_fragmentation_can_be_replayed() -> None:
    kept = "fragmentation/fragmentation"
    request = Request(policy=kept, against="spread/spread")

    report = replayed(*pair(), pods=spread_out(), request=request)

    assert [run.placed for run in report.runs] == [3, 2]
    assert under(report, kept).families[0].fragmentation == 0.3333


def test_a_policy_does_not_differ_from_itself() -> None:
    request = Request(policy="spread/spread", against="spread/spread")

    report = replayed(*pair(), pods=spread_out(), request=request)

    assert report.is_same
    assert report.differences == ()
    assert [run.policy for run in report.runs] == ["spread/spread", "spread/spread"]
    assert report.summary == "3 pods replayed: spread/spread and spread/spread do not differ."


def test_a_pod_that_names_its_policy_is_placed_by_it_and_counted() -> None:
    own = {"hami.io/node-scheduler-policy": "spread"}
    pods = replicas(2, pod("one", gpu=1, gpumem=8000, annotations=own))

    report = replayed(*pair(), pods=pods)

    assert report.is_same
    assert under(report, "binpack/spread").nodes_in_use == 2
    assert "2 pods name policies in annotations, which count under every policy." in notes(report)


def test_pods_that_no_node_could_take_have_a_reason_too() -> None:
    elsewhere = pod("elsewhere", selector={"zone": "nowhere"})

    report = replayed(*pair(), pods=[elsewhere])
    without = replayed(pods=[ONE])

    (reason,) = under(report, "spread/spread").reasons
    assert reason.reason == "node(s) didn't match Pod's node affinity/selector"
    assert under(without, "spread/spread").reasons == (
        ReasonPods(reason="there is no node", pods=1),
    )


def test_an_input_without_pods_says_so() -> None:
    report = replayed(node())

    assert report.is_same
    assert report.summary == "There is no pod to replay."


# Order


def test_pods_come_as_they_were_created_and_those_without_a_time_last() -> None:
    early, late = created(1, pod("z", cpu=1)), created(2, pod("a", cpu=1))
    pods = [running("node", each) for each in (pod("0", cpu=1), late, early)]

    report = replayed(node(cpu=2), pods=pods, request=RECORDED)

    assert [(each.pod, each.order) for each in report.differences] == [("default/0", 3)]


def test_the_order_of_the_input_does_not_matter() -> None:
    nodes, pods = pair(), spread_out()

    assert replayed(*nodes, pods=pods) == replayed(*nodes[::-1], pods=pods[::-1])


# What is recorded


def test_the_record_stands_beside_two_policies() -> None:
    small = [running("b", each, gpu="GPU-b1", memory=8000) for each in replicas(2, ONE)]

    report = replayed(*pair(), pods=small)

    assert [run.policy for run in report.runs] == ["binpack/spread", "spread/spread", "recorded"]
    record = under(report, "recorded")
    assert (record.placed, record.nodes_in_use) == (2, 1)
    assert record.families[0].memory_used_mib == 16000
    assert record.emptied == ()


def test_the_record_is_compared_with_unless_told_otherwise() -> None:
    there = running("b", ONE, gpu="GPU-b1", memory=8000)

    report = replayed(*pair(), pods=[there], request=RECORDED)

    (other,) = report.differences
    assert places(other) == ("a", "b")
    assert [each.positions for each in other.decisions[1].devices] == [(1,)]
    assert under(report, "recorded").emptied == ("a",)
    assert report.summary.endswith(
        "In the record, as many pods are placed and as many nodes are in use."
    )


def test_pods_that_wait_are_refused_by_the_record() -> None:
    pods = [running("a", ONE, gpu="GPU-a1", memory=8000), pod("waits", gpu=1, gpumem=8000)]

    report = replayed(*pair(), pods=pods, request=RECORDED)

    (waiting,) = report.differences
    assert places(waiting) == ("a", "waits for a node")
    assert waiting.change == "Refused"


def test_without_devices_in_the_record_only_nodes_are_compared() -> None:
    report = replayed(node("a", cards=cards(2)), pods=[running("a", ONE)], request=RECORDED)

    assert report.is_same


@pytest.mark.parametrize(
    "request_",
    [RECORDED, Request(policy="recorded", against="spread/spread")],
    ids=["against", "policy"],
)
def test_a_record_that_is_not_there_cannot_be_compared_with(request_: Request) -> None:
    with pytest.raises(InvalidInput, match="nothing is recorded to compare with"):
        replayed(*pair(), pods=[ONE], request=request_)


def test_the_record_is_not_compared_with_itself() -> None:
    request = Request(policy="recorded", against="recorded")

    with pytest.raises(InvalidInput, match="does not differ from itself"):
        replayed(*pair(), pods=[running("a", ONE)], request=request)


def test_the_record_can_come_first() -> None:
    request = Request(policy="recorded", against="binpack/spread")

    report = replayed(*pair(), pods=[running("b", ONE)], request=request)

    assert [run.policy for run in report.runs] == ["recorded", "binpack/spread"]
    assert places(report.differences[0]) == ("b", "a")


def test_an_allocation_that_cannot_be_read_is_a_problem_of_the_record_alone() -> None:
    broken = running("a", ONE, gpu="GPU-a0", memory=8000)
    annotations = {**broken.annotations, ALLOCATED: "GPU-a0,NVIDIA,much,0:;"}

    report = replayed(*pair(), pods=[replace(broken, annotations=annotations), *replicas(1, ONE)])

    assert [each.object for each in report.problems] == ["Pod/default/one"]
    assert under(report, "binpack/spread").placed == 2


# Who does not come


def test_pods_of_nodes_stay_and_keep_what_they_hold() -> None:
    agent = running("a", pod("agent", cpu=7, daemon_of="agent"))
    static = replace(pod("static", cpu=7, on="b"), annotations={MIRROR_ANNOTATION: "x"})

    report = replayed(*pair(), pods=[agent, static, pod("web", cpu=2)])

    assert report.pods == 1
    assert under(report, "binpack/spread").reasons == (
        ReasonPods(reason="Insufficient cpu", pods=1),
    )
    assert "2 pods are of DaemonSets or static and stay on their nodes." in notes(report)


def test_finished_pods_are_left_out() -> None:
    over = replace(pod("over", cpu=8, on="a"), phase="Succeeded")

    report = replayed(node("a"), pods=[over, pod("web", cpu=8)])

    assert (report.pods, under(report, "binpack/spread").placed) == (1, 1)
    assert "1 pod is finished and is left out." in notes(report)


def test_pods_that_run_and_claim_devices_stay() -> None:
    spec = replace(ONE.spec, device_claims=(PodClaim(name="gpu", claim="gpu"),))

    report = replayed(*pair(), pods=[replace(ONE, spec=spec, node_name="a")])

    assert report.pods == 0
    assert "1 pod claims devices (resourceClaims) and stays on its node." in notes(report)


def test_pods_that_wait_for_something_else_are_left_out_with_the_reason() -> None:
    spec = replace(ONE.spec, scheduling_gates=("quota",))
    doomed = replace(pod("doomed", cpu=1), is_terminating=True)

    report = replayed(*pair(), pods=[replace(ONE, spec=spec), doomed])

    assert {each.pod: each.reason for each in report.apart} == {
        "default/one": "waits for scheduling gates: quota",
        "default/doomed": "is being deleted",
    }
    assert report.pods == 0


def test_a_pod_that_runs_and_is_being_deleted_comes_as_it_once_did() -> None:
    report = replayed(*pair(), pods=[replace(running("b", ONE), is_terminating=True)])

    assert under(report, "binpack/spread").placed == 1


def test_pods_on_nodes_that_are_not_in_the_input_do_not_come() -> None:
    report = replayed(*pair(), pods=[running("gone", ONE)])

    assert report.pods == 0
    assert "1 pod runs on a node that is not in the input." in notes(report)
    assert "stays" not in notes(report)


def test_pods_without_devices_stay_if_wanted() -> None:
    pods = [running("a", pod("web", cpu=8)), pod("idle", cpu=1), ONE, pod("cpu-job", cpu=1)]
    request = replace(BOTH, is_devices_only=True)

    report = replayed(*pair(), pods=pods, manifests=[pod("batch", cpu=1)], request=request)

    assert report.pods == 1
    assert "1 pod asks for no devices and stays on its node." in notes(report)
    assert "3 pods ask for no devices and are left out." in notes(report)
    assert "--devices-only" not in notes(report)


def test_pods_without_devices_are_said_to_get_the_first_node() -> None:
    report = replayed(*pair(), pods=[pod("web", cpu=1)])

    assert "1 pod asks for no devices: binpack and spread go by devices" in notes(report)


def test_a_manifest_comes_as_admission_would_store_it() -> None:
    report = replayed(*pair(), manifests=[pod("new", gpumem=8000)])

    assert report.pods == 1
    assert under(report, "binpack/spread").families[0].in_use == 1


def test_gangs_are_not_kept_together_and_the_answer_says_so() -> None:
    link = GangLink(api=GangApi.ANNOTATION, name="g", minimum="2")
    pods = [replace(each, gang_links=(link,)) for each in replicas(2, pod("w", cpu=5))]

    report = replayed(node(), pods=pods)

    assert under(report, "binpack/spread").placed == 1
    assert "2 pods of gangs are placed one by one, as if they were in none." in notes(report)

"""The answer about pods: whom it is about, what each is doing, and the chain of sentences."""

import pytest
from msgspec.structs import replace

from springtide.apps.planner.report import GangPlaces
from springtide.apps.why import Request, WhyReport, run
from springtide.apps.why.asked import Names, UnknownPod
from springtide.apps.why.report import PodWhy, State
from springtide.base.taints import Taint
from springtide.engine.explain import ChangeKind
from springtide.model.gang import GangApi
from springtide.model.node import Node
from springtide.model.pod import GangLink, Pod
from springtide.wire.documents import Input
from tests.builders import card, cards, group, node, pod, replicas
from tests.explaining import running
from tests.world import FixedClock


def answered(
    *pods: Pod,
    nodes: tuple[Node, ...] = (node("n1", cpu=1),),
    manifests: tuple[Pod, ...] = (),
    names: Names | None = None,
    tells_all_nodes: bool = False,
) -> WhyReport:
    """Return the report about a small cluster."""
    found = Input(nodes=nodes, pods=pods, manifests=manifests)
    request = Request(names=names or Names(), tells_all_nodes=tells_all_nodes)
    return run(found, request, clock=FixedClock())


def only(report: WhyReport) -> PodWhy:
    """Return the only answer."""
    (found,) = report.pods
    return found


# Whom it is about


@pytest.mark.parametrize("name", ["default/b", "pod/default/b", "pods/default/b", "b", "pod/b"])
def test_a_pod_is_named_in_several_ways(name: str) -> None:
    report = answered(pod("a"), pod("b"), names=Names(pods=(name,)))

    assert only(report).pods == ("default/b",)


def test_a_namespace_counts_for_names_without_one() -> None:
    there = replace(pod("b"), namespace="team", uid="u")

    report = answered(pod("b"), there, names=Names(pods=("b", "pod/b"), namespace="team"))

    assert only(report).pods == ("team/b",)


def test_a_namespace_that_is_called_like_a_kind_can_be_named() -> None:
    there = replace(pod("b"), namespace="pod", uid="u")

    report = answered(pod("b"), there, names=Names(pods=("pod/b",)))

    assert only(report).pods == ("pod/b",)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "default/trian-0",
            "There is no pod default/trian-0 in the input. Did you mean default/train-0?",
        ),
        (
            "other/train-0",
            "There is no pod other/train-0 in the input. Did you mean default/train-0?",
        ),
        (
            "x/y",
            "There is no pod x/y in the input. Name one as NAMESPACE/NAME; it has default/train-0.",
        ),
    ],
)
def test_a_name_that_nobody_has_is_answered_with_the_nearest(name: str, sentence: str) -> None:
    with pytest.raises(UnknownPod) as fault:
        answered(pod("train-0"), names=Names(pods=(name,)))

    assert str(fault.value) == sentence


def test_an_input_without_pods_says_so() -> None:
    with pytest.raises(UnknownPod, match="it has no pod at all"):
        answered(names=Names(pods=("a/b",)))


def test_labels_select_pods() -> None:
    one = pod("a", labels={"app": "x"})

    report = answered(one, pod("b"), names=Names(selector="app in (x, y)"))

    assert only(report).pods == ("default/a",)


def test_labels_that_nobody_has_and_selectors_that_cannot_be_are_faults() -> None:
    with pytest.raises(UnknownPod, match="No pod in namespace team has labels that match 'app=x'"):
        answered(pod("a"), names=Names(selector="app=x", namespace="team"))
    with pytest.raises(UnknownPod, match="-l app in: "):
        answered(pod("a"), names=Names(selector="app in"))


def test_without_names_it_is_about_the_pods_of_manifests() -> None:
    report = answered(pod("waits"), manifests=(pod("made"),))

    assert only(report).pods == ("default/made",)


def test_without_names_and_manifests_it_is_about_all_pods_without_a_node() -> None:
    report = answered(pod("waits"), pod("runs", on="n1"))

    assert only(report).pods == ("default/waits",)


def test_equal_answers_are_given_once() -> None:
    report = answered(*replicas(3, pod("p", cpu=2)))

    assert only(report).pods == ("default/p-0", "default/p-1", "default/p-2")


# What a pod is doing


def test_a_pod_that_runs_is_told_with_its_devices() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=2048, gpucores=30)
    nodes = (node("n1", cards=cards(1)),)

    report = answered(taken, nodes=nodes, names=Names(pods=("r",)))

    assert only(report).state is State.RUNNING
    assert only(report).answer == "It is on node n1, with 2 GiB and 30 cores of GPU-0."
    assert report.fits


def test_a_pod_on_a_node_that_is_not_in_the_input_is_told_all_the_same() -> None:
    report = answered(pod("r", on="gone"), names=Names(pods=("r",)))

    assert only(report).answer == "It is on node gone."


def test_a_pod_that_has_ended_is_told() -> None:
    ended = replace(pod("e", on="n1"), phase="Failed")

    report = answered(ended, names=Names(pods=("e",)))

    assert only(report).state is State.FINISHED
    assert only(report).answer == "It has finished on node n1 (Failed), and holds nothing any more."
    assert report.fits


def test_a_gated_pod_does_not_fit_but_is_held_against_the_nodes() -> None:
    who = pod("g")
    gated = replace(who, spec=replace(who.spec, scheduling_gates=("wait",)))

    report = answered(gated)

    assert only(report).state is State.GATED
    assert only(report).chain == (
        "It waits for scheduling gates: wait. Without them it would fit on 1 of 1 node: n1. "
        "Smallest change: remove the scheduling gates wait; then n1 takes it."
    )
    assert not report.fits


def test_the_place_that_is_kept_for_a_nominated_pod_is_free_to_it() -> None:
    nominated = replace(pod("n", cpu=1), nominated_node="n1")

    report = answered(nominated, pod("other", cpu=1))

    assert {each.pods: each.fits for each in report.pods} == {
        ("default/other",): False,
        ("default/n",): True,
    }
    assert report.pods[1].state is State.NOMINATED
    assert report.pods[1].answer.startswith("It waits for node n1, to which the scheduler")


def test_a_pod_that_is_being_deleted_needs_no_node() -> None:
    report = answered(replace(pod("d"), is_terminating=True))

    assert only(report).state is State.DELETED
    assert only(report).answer == "It is being deleted."


def test_a_manifest_that_would_be_denied_is_told() -> None:
    denied = pod("d", gpu=1, others={"nvidia.com/gpumem-percentage": 300})

    report = answered(manifests=(denied,))

    assert only(report).state is State.DENIED
    assert only(report).answer.startswith("It would be denied at admission: invalid nvidia.com")
    assert not report.fits


def test_a_pod_of_a_daemon_set_is_held_against_the_nodes() -> None:
    report = answered(pod("d", cpu=2, daemon_of="ds"))

    assert only(report).state is State.WAITING
    assert only(report).answer == "It does not fit on the only node."


# The chain


def test_the_chain_is_the_answer_the_reasons_and_the_smallest_change() -> None:
    nodes = (
        node("n1", cpu=1),
        node("n2", cpu=1),
        node("n3", cpu=8, taints=[Taint(key="team")]),
    )

    report = answered(pod("p", cpu=2), nodes=nodes)

    assert only(report).chain == (
        "It fits on none of the 3 nodes. On 2 nodes: cpu: largest free is 1 of 1, 2 asked. "
        "On node n3: not tolerated: team:NoSchedule. "
        "Smallest change: tolerate the taint team:NoSchedule; then n3 takes it."
    )


def test_what_is_not_told_is_counted() -> None:
    taints = [Taint(key="a")]
    nodes = (
        node("n1", cpu=1),
        node("n2", memory="1Mi"),
        node("n3", taints=taints),
        node("n4", is_unschedulable=True),
    )

    report = answered(pod("p", cpu=2, memory="1Gi"), nodes=nodes)

    assert "There is 1 other reason." in only(report).chain


def test_where_nothing_helps_the_chain_says_so() -> None:
    nodes = (node(cpu=1, memory="1Mi", taints=[Taint(key="a")]),)

    report = answered(pod("p", cpu=2, memory="1Gi"), nodes=nodes)

    assert only(report).chain.endswith("None of the changes that were tried helps alone.")
    assert only(report).changes == ()


def test_a_pod_that_fits_is_told_where() -> None:
    nodes = tuple(node(f"n{index}") for index in range(5))

    report = answered(pod("p"), nodes=nodes)

    assert only(report).answer == "It fits on 5 of 5 nodes: n0, n1, n2 and 2 more."
    assert report.fits


def test_the_words_of_the_clusters_scheduler_are_kept() -> None:
    report = answered(replace(pod("p"), scheduled_message="0/1 nodes are available."))

    assert only(report).last_message == "0/1 nodes are available."


def test_without_nodes_there_is_no_verdict() -> None:
    report = answered(pod("p"), nodes=())

    assert only(report).answer == "It fits nowhere: there is no node."
    assert only(report).verdicts == ()


# Every node


def test_every_node_is_told_by_itself_with_its_own_numbers_and_devices() -> None:
    nodes = (node("n1", cards=cards(1)), node("n2", cards=[card("x", memory=1024)]))

    report = answered(pod("p", gpu=1, gpumem=99_999), nodes=nodes, tells_all_nodes=True)

    verdicts = only(report).verdicts
    assert [(each.nodes, each.sentence.partition(": ")[2]) for each in verdicts] == [
        (("n1",), "largest free is 24 GiB, 99999 MiB asked"),
        (("n2",), "largest free is 1 GiB, 99999 MiB asked"),
    ]
    assert [each.devices[0].devices[0].memory_free for each in verdicts] == [24_576, 1024]
    assert [each.devices[0].devices[0].reason for each in verdicts] == [
        "CardInsufficientMemory"
    ] * 2


def test_nodes_that_take_the_pod_are_told_by_themselves_too() -> None:
    report = answered(pod("p"), tells_all_nodes=True)

    assert [(each.nodes, each.fits) for each in only(report).verdicts] == [(("n1",), True)]


# Groups


def test_groups_that_would_not_help_say_why_and_the_others_are_changes() -> None:
    groups = (
        group("big", template=node("b", cpu=64)),
        group("small", template=node("s", cpu=1)),
    )
    found = Input(nodes=(node("n1", cpu=1),), pods=(pod("p", cpu=32),), groups=groups)

    answer = only(run(found, Request(), clock=FixedClock()))

    assert [(each.kind, each.subject) for each in answer.changes] == [
        (ChangeKind.ADD_NODE, "big"),
        (ChangeKind.ASK_LESS, "cpu"),
    ]
    assert [(each.group, each.reason) for each in answer.groups] == [("small", "Insufficient cpu")]


# Gangs


def gang_of(count: int, *, minimum: int) -> tuple[Pod, ...]:
    """Return pods of 400m cpu each that start together."""
    link = GangLink(api=GangApi.ANNOTATION, name="train", minimum=str(minimum))
    return tuple(
        replace(pod(f"train-{index}", cpu="400m"), gang_links=(link,)) for index in range(count)
    )


def test_a_pod_that_fits_is_not_started_while_its_gang_is_short() -> None:
    report = answered(*gang_of(4, minimum=3))

    answer = only(report)
    assert (report.fits, answer.fits) == (False, False)
    assert answer.verdicts[0].fits
    assert answer.gang == GangPlaces(name="default/train", minimum=3, running=2, short_by=1)
    assert answer.answer.endswith(
        "Its gang default/train is short by 1: 2 of at least 3 pods have places on these nodes, and "
        "none is started before all of these are there."
    )


def test_a_gang_that_has_its_places_is_in_nobodys_way() -> None:
    report = answered(*gang_of(3, minimum=2))

    assert report.fits
    assert only(report).answer.endswith(
        "Of its gang default/train, 2 of at least 2 pods have places on these nodes."
    )


def test_gangs_are_placed_one_by_one_and_leave_nothing_behind() -> None:
    others = tuple(
        replace(each, uid=f"{each.uid}-b", namespace="b") for each in gang_of(2, minimum=2)
    )

    report = answered(*gang_of(2, minimum=2), *others)

    assert report.fits
    assert {each.gang.name for each in report.pods if each.gang} == {"default/train", "b/train"}


# Who else waits


def test_a_pod_that_fits_is_told_that_others_wait_too() -> None:
    names = Names(pods=("default/a",))

    alone = answered(pod("a"), names=names)
    beside = answered(pod("a"), pod("b"), names=names)

    assert not any("wait" in note for note in alone.input.notes)
    assert any("1 other pod waits too" in note for note in beside.input.notes)

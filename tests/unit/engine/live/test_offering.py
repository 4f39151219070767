"""Where the scheduler chooses: all nodes that take a pod, their scores, and a reservation at the bind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.base.annotations import NODE
from springtide.base.quantity import parse
from springtide.engine.live import CreateBinding, Failed, Fault, LiveSettings, PatchPod
from springtide.model.pod import Pod
from springtide.model.quotas import NamespaceQuota
from tests.builders import card, cards, pod
from tests.living import LOST, Cluster, broken, gpu_node, stored

OFFERS = LiveSettings(scheduler_name="hami-scheduler", leaves_choice=True, writes_at_bind=True)
MOST = 10


def offering(*names: str) -> Cluster:
    """Return a cluster with a card of 16 GB on each node, whose scheduler chooses."""
    cluster = Cluster(OFFERS)
    cluster.add(*(gpu_node(name, card(f"GPU-{name}", memory=16000)) for name in names))
    return cluster


def uid(name: str) -> str:
    return f"uid-{name}"


def asking(name: str, gpumem: int) -> Pod:
    """Return a pod that asks for so much of one card."""
    return replace(stored(pod(name, gpu=1, gpumem=gpumem)), uid=uid(name))


def scores(cluster: Cluster, train: Pod, names: list[str]) -> dict[str, int]:
    return cluster.live.prioritize(train, names, most=MOST)


def test_a_filter_call_names_every_node_that_takes_the_pod_and_holds_nothing() -> None:
    cluster = offering("n1", "n2", "n3")
    cluster.filter(asking("first", 12000))
    cluster.bind(uid("first"), "n2")

    answer = cluster.filter(asking("next", 8000), ["n3", "n2", "n9", "n1"])

    assert answer.nodes == ("n3", "n1")
    assert answer.node is None
    assert answer.patch is None
    assert uid("next") not in cluster.live.holders
    assert cluster.used("n1") == cluster.used("n3") == {}


def test_where_no_node_takes_the_pod_each_says_why_as_ever() -> None:
    cluster = offering("n1", "n2")

    answer = cluster.filter(asking("big", 99999), ["n2", "n9"])

    assert answer.nodes == ()
    assert answer.refusals == {"n2": "1/1 CardInsufficientMemory", "n9": "node unregistered"}


def test_a_bind_holds_and_writes_what_a_filter_call_would_have() -> None:
    choosing, leaving = Cluster(), offering("n1", "n2")
    choosing.add(*leaving.nodes.values())
    train = asking("train", 8000)
    chosen = choosing.filter(train, ["n2"])

    leaving.filter(train)
    error = leaving.bind(uid("train"), "n2")

    assert error == ""
    assert chosen.patch is not None
    written = leaving.pods[uid("train")]
    assert written.node_name == "n2"
    assert written.annotations.items() >= chosen.patch.annotations.items()
    assert written.labels == chosen.patch.labels
    assert leaving.used("n2") == choosing.used("n2") == {"GPU-n2": (1, 8000, 0)}
    marks = [e for e in leaving.performed if isinstance(e, PatchPod)]
    assert len(marks) == 1


def test_a_bind_to_a_node_that_has_filled_up_fails_with_its_reason_and_holds_nothing() -> None:
    cluster = offering("n1", "n2")
    for name in ("a", "b"):
        assert cluster.filter(asking(name, 12000)).nodes == ("n1", "n2")

    first, second = cluster.bind(uid("a"), "n1"), cluster.bind(uid("b"), "n1")

    assert first == ""
    assert second == (
        "node n1 does not take pod default/b (1/1 CardInsufficientMemory): it is scheduled again"
    )
    assert cluster.used("n1") == {"GPU-n1": (1, 12000, 0)}
    assert uid("b") not in cluster.live.holders
    assert NODE not in cluster.pods[uid("b")].annotations
    assert cluster.filter(cluster.pods[uid("b")]).nodes == ("n2",)


def test_a_bind_to_a_node_without_devices_fails_with_its_reason() -> None:
    cluster = offering("n1")
    cluster.add(gpu_node("bare"))
    cluster.filter(asking("train", 8000))

    error = cluster.bind(uid("train"), "bare")

    assert error is not None
    assert "node bare does not take pod default/train (node unregistered)" in error


@pytest.mark.parametrize("failing", [PatchPod, CreateBinding])
def test_after_a_bind_that_failed_the_pod_begins_anew(failing: type) -> None:
    cluster = offering("n1", "n2")
    train = asking("train", 8000)
    cluster.filter(train)
    cluster.bind_faults[failing] = [Failed(fault=Fault.CONFLICT, message="no")]
    failed = cluster.bind(uid("train"), "n1")
    cluster.live.ledger.check()

    again = cluster.filter(cluster.pods[uid("train")])
    cluster.wait(1)

    assert failed == "no"
    assert again.nodes == ("n1", "n2")
    assert NODE not in cluster.pods[uid("train")].annotations
    assert cluster.used("n1") == {}
    assert cluster.bind(uid("train"), "n2") == ""
    assert cluster.used("n2") == {"GPU-n2": (1, 8000, 0)}
    assert cluster.used("n1") == {}


def test_what_a_failed_bind_has_written_counts_no_more_when_it_is_heard_of_late() -> None:
    cluster = offering("n1", "n2")
    train = asking("train", 8000)
    cluster.filter(train)
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="no")]
    cluster.tells = False
    cluster.bind(train.uid, "n1")
    written = NODE in cluster.pods[train.uid].annotations

    # kube-scheduler has not heard of it either.
    again = cluster.live.filter(train, ["n1", "n2"], now_s=cluster.now_s)
    cluster.tells = True
    cluster.tell_pod(train.uid)

    assert written
    assert again.nodes == ("n1", "n2")
    assert train.uid not in cluster.live.holders
    assert NODE not in cluster.pods[train.uid].annotations


def test_where_what_is_left_cannot_be_taken_off_the_pod_the_call_fails() -> None:
    cluster = offering("n1")
    cluster.filter(asking("train", 8000))
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="no")]
    cluster.bind(uid("train"), "n1")
    cluster.faults[PatchPod] = [broken()]

    answer = cluster.filter(cluster.pods[uid("train")])

    assert answer.error
    assert uid("train") not in cluster.live.holders
    assert NODE not in cluster.pods[uid("train")].annotations


def test_a_binding_of_which_the_answer_was_lost_keeps_its_devices() -> None:
    cluster = offering("n1")
    cluster.filter(asking("train", 8000))
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.OTHER, message=LOST)]

    error = cluster.bind(uid("train"), "n1")

    assert error == ""
    assert cluster.used("n1") == {"GPU-n1": (1, 8000, 0)}
    assert cluster.pods[uid("train")].annotations[NODE] == "n1"


def test_a_process_that_starts_anew_knows_what_binds_have_reserved() -> None:
    cluster = offering("n1", "n2")
    for name, node in (("a", "n1"), ("b", "n2"), ("c", "n2")):
        cluster.filter(asking(name, 8000))
        cluster.bind(uid(name), node)
        cluster.allocate(node)

    rebuilt = cluster.rebuilt()

    assert {each.uid: each.node for each in rebuilt.holders.all()} == {
        uid("a"): "n1",
        uid("b"): "n2",
        uid("c"): "n2",
    }
    cluster.delete(uid("a"))
    assert cluster.used("n1") == {}


def test_what_the_quota_leaves_decides_at_the_bind_again() -> None:
    cluster = offering("n1", "n2")
    limits = (("nvidia.com/gpumem", parse("9000")),)
    cluster.live.quota_seen(NamespaceQuota(namespace="default", name="q", limits=limits))
    for name in ("a", "b"):
        cluster.filter(asking(name, 8000))

    first, second = cluster.bind(uid("a"), "n1"), cluster.bind(uid("b"), "n2")

    assert first == ""
    assert second is not None
    assert "ResourceQuotaNotFit" in second
    assert cluster.quota("default")["nvidia.com/gpumem"] == 8000


def test_the_best_score_is_that_of_the_node_which_a_filter_call_would_choose() -> None:
    choosing, leaving = Cluster(), offering("n1", "n2", "n3", "n4")
    choosing.add(*leaving.nodes.values())
    for number, (node, gpumem) in enumerate([("n1", 2000), ("n2", 9000), ("n3", 6000)]):
        each = asking(f"p{number}", gpumem)
        for cluster in (choosing, leaving):
            cluster.filter(each, [node])
            cluster.bind(each.uid, node)
            cluster.allocate(node)
    names = ["n4", "n3", "n2", "n1", "n9"]
    train = asking("train", 4000)

    leaving.filter(train)
    found = scores(leaving, train, names)

    assert choosing.filter(train).node == "n2"
    assert list(found) == names
    assert found["n2"] == MOST
    assert MOST > found["n3"] >= found["n1"] >= found["n4"] == 0
    assert found["n9"] == 0


def test_equal_nodes_have_equal_scores_and_a_pod_without_devices_prefers_none() -> None:
    cluster = offering("n1", "n2")
    train, plain = asking("train", 4000), pod("plain", cpu=1)

    assert scores(cluster, train, ["n1", "n2"]) == {"n1": MOST, "n2": MOST}
    assert scores(cluster, plain, ["n1", "n2"]) == {"n1": 0, "n2": 0}
    assert scores(cluster, train, []) == {}


def test_what_is_held_for_a_pod_already_is_preferred_alone() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-n1")), gpu_node("n2", card("GPU-n2")))
    train = asking("train", 4000)

    answer = cluster.filter(train)

    assert answer.node == "n1"
    assert scores(cluster, train, ["n1", "n2"]) == {"n1": MOST, "n2": 0}


def test_nodes_that_only_look_as_if_they_took_the_pod_are_not_named() -> None:
    cluster = Cluster(OFFERS)
    # Of two containers that ask for 9 GB the second finds no card there, which only placing tells.
    small = [gpu_node(f"n{each:03}", card(f"GPU-{each}", memory=16000)) for each in range(150)]
    cluster.add(*small, gpu_node("z", *cards(2)))
    train = asking("train", 9000)
    both = tuple(replace(train.spec.containers[0], name=name) for name in ("main", "other"))
    twice = replace(train, spec=replace(train.spec, containers=both))
    rank = cluster.live.choosing.tables.table(cluster.live.class_of(twice)).rank
    seems_to_fit = int((rank > float("-inf")).sum())

    answer = cluster.filter(twice)

    assert seems_to_fit == 151
    assert answer.nodes == ("z",)
    assert cluster.bind(twice.uid, "z") == ""


@given(st.lists(st.integers(0, 15), min_size=2, max_size=8), st.integers(1, 6))
def test_scores_are_in_order_and_within_bounds(loads: list[int], gpumem: int) -> None:
    cluster = offering(*(f"n{each}" for each in range(len(loads))))
    for each, gb in enumerate(loads):
        if gb:
            cluster.filter(asking(f"p{each}", gb * 1000))
            cluster.bind(uid(f"p{each}"), f"n{each}")
            cluster.allocate(f"n{each}")
    names = list(cluster.nodes)
    train = cluster.create(asking("train", gpumem * 1000))
    pod_class = cluster.live.class_of(train)

    found = scores(cluster, train, names)

    rank = cluster.live.choosing.tables.table(pod_class).rank
    taking = [name for name in names if rank[cluster.live.ledger.rows[name]] > float("-inf")]
    by_rank = sorted(taking, key=lambda name: float(rank[cluster.live.ledger.rows[name]]))
    assert [found[name] for name in by_rank] == sorted(found[name] for name in taking)
    assert all(0 <= score <= MOST for score in found.values())
    assert all(found[name] == 0 for name in names if name not in taking)

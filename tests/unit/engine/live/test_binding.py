"""Binding: the lock of the node, the steps in their order, and every way in which one of them fails."""

from collections.abc import Sequence
from functools import partial

import pytest
from msgspec.structs import replace

from springtide.engine.live import (
    Commands,
    CreateBinding,
    Failed,
    Fault,
    LiveSettings,
    Outcome,
    PatchNode,
    PatchPod,
    ReadNode,
    ReadPod,
)
from springtide.engine.live.lock import Hold, Lock, MalformedLock, read, standing, written
from springtide.model.pod import GangLink, Pod
from tests.builders import card, pod
from tests.living import NOW_S, Cluster, broken, gpu_node, stored

LOCK = "hami.io/mutex.lock"
PATIENT = LiveSettings(scheduler_name="hami-scheduler")
HASTY = LiveSettings(scheduler_name="hami-scheduler", single_wait_s=0)
CONFLICT = Failed(fault=Fault.CONFLICT, message="the object has been modified")


def asking(name: str, *, is_member: bool = False) -> Pod:
    links = (GangLink(api="scheduling.x-k8s.io", name="gang"),) if is_member else ()
    return replace(stored(pod(name, gpu=1, gpumem=1000)), gang_links=links)


def ready(
    *pods: Pod, settings: LiveSettings = PATIENT, lock: str | None = None, also: str = ""
) -> Cluster:
    """Return a cluster in which these pods have devices on n1; `also` names another node."""
    cluster = Cluster(settings)
    for name in ("n1", *filter(None, [also])):
        cluster.add(gpu_node(name, card(f"GPU-{name}")))
    for each in pods:
        assert cluster.filter(each, ["n1"]).node == "n1"
    if lock is not None:
        cluster.annotate("n1", {LOCK: lock})
    cluster.performed.clear()
    return cluster


def done(cluster: Cluster, commands: Commands) -> Outcome:
    """Perform the one command that there is."""
    (command,) = commands
    outcome = cluster.outcome(command)
    assert outcome is not None
    return outcome


def names(commands: Sequence[object]) -> list[str]:
    return [type(each).__name__ for each in commands]


def test_a_bind_locks_the_node_marks_the_pod_and_creates_the_binding() -> None:
    cluster = ready(asking("p"))

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert names(cluster.performed) == [
        "PatchNode", "PatchPod", "CreateBinding", "RecordEvent", "AnswerBind",
    ]  # fmt: skip
    assert cluster.nodes["n1"].annotations[LOCK] == "2026-01-01T00:05:00Z,default,p"
    bound = cluster.pods["default/p"]
    assert bound.node_name == "n1"
    assert bound.annotations["hami.io/bind-phase"] == "allocating"
    assert bound.annotations["hami.io/bind-time"] == str(int(NOW_S))
    assert cluster.events() == ["BindingSucceed: Successfully binding node [n1] to default/p"]


def test_binds_of_one_node_come_one_after_the_other_as_the_plugin_releases_its_lock() -> None:
    pods = [asking(name) for name in "abc"]
    cluster = ready(*pods)

    first = [cluster.bind(each.uid, "n1") for each in pods]
    cluster.allocate("n1")
    second = dict(cluster.answers)
    cluster.allocate("n1")

    assert first == ["", None, None]
    assert second == {"default/a": "", "default/b": ""}
    assert cluster.answers["default/c"] == ""
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,c")
    assert not any(isinstance(each, ReadNode) for each in cluster.performed)


def test_t82_a_bind_of_a_pod_that_is_gone_frees_its_devices() -> None:
    cluster = ready(asking("p"))
    cluster.delete("default/p")

    answer = cluster.bind("default/p", "n1")

    assert answer == 'pod "gone" not found'
    assert cluster.used("n1") == {}


def test_t83_a_bind_to_a_node_that_is_gone_frees_its_devices() -> None:
    cluster = ready(asking("p"))
    cluster.remove_node("n1")

    answer = cluster.bind("default/p", "n1")

    assert answer is not None
    assert "not found" in answer
    assert cluster.events() == ["BindingFailed: failed to get node n1"]
    assert cluster.quota("default") == {}


def test_t84_a_pod_that_does_not_wait_is_told_of_the_contention_at_once() -> None:
    holder = asking("holder")
    cluster = ready(holder, asking("p"), settings=HASTY, lock=written(NOW_S, ("default", "holder")))

    answer = cluster.bind("default/p", "n1")

    assert answer == "node n1 has been locked within 5m0s: node lock contention"
    assert not any(isinstance(each, PatchNode) for each in cluster.performed)
    assert cluster.used("n1") == {"GPU-n1": (2, 2000, 0)}


def test_t85_a_member_of_a_group_gets_the_lock_when_it_is_free() -> None:
    cluster = ready(
        asking("holder"),
        asking("p", is_member=True),
        settings=HASTY,
        lock=written(NOW_S, ("default", "holder")),
    )

    at_first = cluster.bind("default/p", "n1")
    cluster.annotate("n1", {LOCK: None})

    assert at_first is None
    assert cluster.answers["default/p"] == ""


def test_t86_a_member_of_a_group_that_waits_too_long_is_refused() -> None:
    settings = LiveSettings(lock_wait_s=0.3)
    cluster = ready(
        asking("holder"),
        asking("p", is_member=True),
        settings=settings,
        lock=written(NOW_S, ("default", "holder")),
    )
    cluster.bind("default/p", "n1")

    cluster.wait(0.4)

    why = "timed out after 300ms waiting for node n1 to be unlocked: node lock contention"
    assert cluster.answers["default/p"] == why
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,holder")


def test_t87_an_api_server_that_fails_is_not_contention() -> None:
    cluster = ready(asking("p", is_member=True))
    cluster.faults[PatchNode] = [broken("apiserver 500") for _ in range(9)]

    answer = cluster.bind("default/p", "n1")

    assert answer == (
        "failed to set node lock (node=n1, retry strategy="
        "{Duration:100ms Factor:2 Jitter:0.5 Steps:5 Cap:0s}): apiserver 500"
    )
    assert len(cluster.patches("n1")) == 5
    pauses = [each.after_s for each in cluster.performed if isinstance(each, ReadNode)]
    assert pauses == [0.1, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("step", "taken"), [(PatchNode, [True] * 5), (CreateBinding, [True, False])]
)
def test_t88_a_pod_of_several_families_takes_one_lock_and_releases_what_it_has_taken(
    step: type, taken: list[bool]
) -> None:
    cluster = Cluster(PATIENT)
    chips = (
        '[{"id":"NPU-0","count":4,"devmem":32768,"devcore":30,"type":"Ascend910A","health":true}]'
    )
    cluster.add(gpu_node("n1", card("GPU-a"), notes={"hami.io/node-register-Ascend910A": chips}))
    mixed = stored(pod("p", gpu=1, gpumem=100, others={"huawei.com/Ascend910A": 1}))
    assert cluster.filter(mixed).node == "n1"
    cluster.performed.clear()
    cluster.bind_faults[step] = [broken() for _ in range(5)]

    answer = cluster.bind("default/p", "n1")

    patches = [each.annotations for each in cluster.patches("n1") if LOCK in each.annotations]
    assert answer is not None
    assert answer.endswith("apiserver 500")
    assert [each[LOCK] is not None for each in patches] == taken
    assert LOCK not in cluster.nodes["n1"].annotations


def test_t89_a_lock_of_a_pod_that_lives_is_respected() -> None:
    cluster = ready(asking("a"), asking("p"), lock=written(NOW_S - 299, ("default", "a")))

    answer = cluster.bind("default/p", "n1")
    cluster.wait(2)

    assert answer is None
    assert cluster.answers["default/p"] == ""
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,p")


def test_t90_a_lock_whose_owner_does_not_exist_is_taken_over() -> None:
    cluster = ready(asking("p"), lock=written(NOW_S - 1, ("default", "nobody")))

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert any(isinstance(each, ReadPod) for each in cluster.performed)


def test_t91_a_lock_that_is_the_pods_own_is_kept_as_it_is() -> None:
    mine = written(NOW_S - 100, ("default", "p"))
    cluster = ready(asking("p"), lock=mine)

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert cluster.patches("n1") == []
    assert cluster.nodes["n1"].annotations[LOCK] == mine


def test_t92_a_lock_that_another_pod_took_first_is_preserved() -> None:
    cluster = ready(asking("a"), asking("p"), settings=HASTY)
    theirs = written(NOW_S, ("default", "a"))
    node = cluster.nodes["n1"]
    cluster.nodes["n1"] = replace(node, annotations={**node.annotations, LOCK: theirs})
    cluster.versions["n1"] += 1

    answer = cluster.bind("default/p", "n1")

    assert answer is not None
    assert answer.endswith("node lock contention")
    assert len(cluster.patches("n1")) == 1
    assert cluster.nodes["n1"].annotations[LOCK] == theirs


def test_t93_a_lock_that_was_taken_although_the_answer_was_lost_is_taken() -> None:
    cluster = ready(asking("p"))
    node = cluster.nodes["n1"]
    mine = {**node.annotations, LOCK: written(NOW_S, ("default", "p"))}
    cluster.faults[PatchNode] = [broken("connection reset")]
    cluster.nodes["n1"] = replace(node, annotations=mine)
    cluster.versions["n1"] += 1

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert len(cluster.patches("n1")) == 1


@pytest.mark.parametrize("step", [PatchPod, CreateBinding])
def test_a_step_that_fails_releases_the_lock_and_keeps_the_reservation(step: type) -> None:
    cluster = ready(asking("p"))
    cluster.faults[step] = [broken()]

    answer = cluster.bind("default/p", "n1")

    assert answer == "apiserver 500"
    assert LOCK not in cluster.nodes["n1"].annotations
    assert cluster.used("n1") == {"GPU-n1": (1, 1000, 0)}
    assert cluster.events() == ["BindingFailed: apiserver 500"]
    assert cluster.bind("default/p", "n1") == ""


def test_a_binding_whose_answer_was_lost_counts_if_the_pod_is_bound() -> None:
    cluster = ready(asking("p"))
    cluster.faults[CreateBinding] = [broken("connection reset")]
    cluster.pods["default/p"] = replace(cluster.pods["default/p"], node_name="n1")

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,p")
    assert cluster.used("n1") == {"GPU-n1": (1, 1000, 0)}


def test_a_binding_that_failed_without_an_answer_about_the_pod_is_undone() -> None:
    cluster = ready(asking("p"))
    cluster.faults[CreateBinding] = [broken("connection reset")]
    cluster.faults[ReadPod] = [broken("still away")]

    answer = cluster.bind("default/p", "n1")

    assert answer == "connection reset"
    assert LOCK not in cluster.nodes["n1"].annotations


def test_an_owner_of_a_lock_that_cannot_be_looked_up_is_the_answer() -> None:
    cluster = ready(asking("p"), lock=written(NOW_S - 1, ("default", "nobody")))
    cluster.faults[ReadPod] = [broken("apiserver 500")]

    answer = cluster.bind("default/p", "n1")

    assert answer == "apiserver 500"
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,nobody")


def test_a_node_that_goes_while_it_is_locked_is_the_answer() -> None:
    cluster = ready(asking("p"))
    cluster.faults[PatchNode] = [Failed(fault=Fault.NOT_FOUND, message="gone")]

    answer = cluster.bind("default/p", "n1")

    assert answer is not None
    assert answer.endswith(": gone")
    assert len(cluster.patches("n1")) == 1


def test_a_lock_that_cannot_be_released_leaves_the_answer_as_it_is() -> None:
    for step in (ReadNode, PatchNode):
        cluster = ready(asking("p"))
        cluster.bind_faults[CreateBinding] = [broken("first")]
        locked = cluster.live.bind(
            uid="default/p", namespace="default", name="p", node="n1", now_s=NOW_S
        )
        marking = cluster.live.outcome("default/p", done(cluster, locked), now_s=NOW_S)
        cluster.faults[step] = [broken("second") for _ in range(9)]

        cluster.perform(marking)

        assert cluster.answers["default/p"] == "first"


def test_t94_a_lock_that_is_another_owners_by_now_is_not_released() -> None:
    cluster = ready(asking("p"))
    theirs = written(NOW_S, ("default", "other"))
    cluster.faults[CreateBinding] = [broken()]
    taking = cluster.live.bind(
        uid="default/p", namespace="default", name="p", node="n1", now_s=NOW_S
    )
    marking = cluster.live.outcome("default/p", done(cluster, taking), now_s=NOW_S)
    cluster.annotate("n1", {LOCK: theirs})

    cluster.perform(marking)

    assert cluster.answers["default/p"] == "apiserver 500"
    assert cluster.nodes["n1"].annotations[LOCK] == theirs


def test_a_release_that_meets_a_conflict_is_tried_again() -> None:
    cluster = ready(asking("p"))
    cluster.faults[CreateBinding] = [broken()]
    commands = cluster.live.bind(
        uid="default/p", namespace="default", name="p", node="n1", now_s=NOW_S
    )
    marking = cluster.live.outcome("default/p", done(cluster, commands), now_s=NOW_S)
    cluster.faults[PatchNode] = [CONFLICT, CONFLICT]

    cluster.perform(marking)

    assert cluster.answers["default/p"] == "apiserver 500"
    assert LOCK not in cluster.nodes["n1"].annotations


def test_t95_a_lock_on_one_node_does_not_keep_another_one_waiting() -> None:
    cluster = ready(asking("a"), asking("b"), also="n2")
    elsewhere = asking("c")
    cluster.filter(elsewhere, ["n2"])
    cluster.bind("default/a", "n1")

    waiting = cluster.bind("default/b", "n1")
    answer = cluster.bind("default/c", "n2")

    assert (waiting, answer) == (None, "")


def test_fc_023_dead_holders_lose_the_lock_and_live_ones_keep_it() -> None:
    old = written(NOW_S - 30, ("default", "p-old"))
    for fate in ("deleted", "Failed", "Succeeded"):
        cluster = ready(asking("p-new"), lock=old)
        if fate != "deleted":
            cluster.create(replace(asking("p-old"), phase=fate))

        assert cluster.bind("default/p-new", "n1") == "", fate

    cluster = ready(asking("p-old"), asking("p-new"), settings=HASTY, lock=old)
    refused = cluster.bind("default/p-new", "n1")
    kept = cluster.nodes["n1"].annotations[LOCK]
    again = cluster.bind("default/p-old", "n1")

    assert refused is not None
    assert refused.endswith("node lock contention")
    assert kept == old
    assert again == ""


def test_a_bind_goes_on_as_soon_as_the_owner_of_the_lock_has_ended() -> None:
    for end in ("fails", "is deleted"):
        cluster = ready(asking("a"), asking("b"))
        cluster.bind("default/a", "n1")
        waiting = cluster.bind("default/b", "n1")
        if end == "fails":
            cluster.change("default/a", phase="Failed")
        else:
            cluster.delete("default/a")

        assert waiting is None
        assert cluster.answers["default/b"] == "", end


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_owner_of_a_lock_that_was_left_behind_does_not_wait_behind_others(order: str) -> None:
    pods = {name: asking(name) for name in "ab"}
    cluster = ready(*pods.values(), lock="2026-01-01T00:04:00Z,default,b")

    for name in order:
        cluster.bind(pods[name].uid, "n1")
    first = dict(cluster.answers)
    cluster.allocate("n1")

    assert first == {"default/b": ""}
    assert cluster.answers == {"default/a": "", "default/b": ""}
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,a")


def test_an_owner_that_comes_while_its_lock_is_read_goes_first_all_the_same() -> None:
    pods = {name: asking(name) for name in "ab"}
    cluster = ready(*pods.values(), lock="2026-01-01T00:04:00Z,default,b")
    begin = partial(cluster.live.bind, namespace="default", node="n1", now_s=NOW_S)
    known = cluster.live.stock.get("n1")
    assert known is not None
    known.version = ""

    reading = begin(uid="default/a", name="a")
    also = begin(uid="default/b", name="b")
    cluster.perform(reading)

    assert also == ()
    assert cluster.answers == {"default/b": ""}


def test_a_lock_whose_owner_is_on_another_node_by_now_is_taken_over() -> None:
    cluster = ready(asking("p"), lock="2026-01-01T00:04:00Z,default,other", also="n2")
    cluster.create(asking("other"))
    waiting = cluster.bind("default/p", "n1")

    cluster.filter(cluster.pods["default/other"], ["n2"])
    cluster.bind("default/other", "n2")
    cluster.wait(1)

    assert waiting is None
    assert cluster.answers == {"default/p": "", "default/other": ""}
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,p")


def test_pods_that_each_have_left_a_lock_on_the_node_of_the_other_do_not_wait_for_each_other() -> (
    None
):
    cluster = ready(asking("p"), lock="2026-01-01T00:04:00Z,default,q", also="n2")
    cluster.annotate("n2", {LOCK: "2026-01-01T00:04:00Z,default,p"})
    cluster.filter(asking("q"), ["n2"])

    answers = [cluster.bind("default/p", "n1"), cluster.bind("default/q", "n2")]

    assert answers == ["", ""]
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,p")
    assert cluster.nodes["n2"].annotations[LOCK].endswith(",default,q")


def test_a_lock_is_not_taken_from_a_pod_that_turns_out_to_be_on_its_node() -> None:
    cluster = ready(asking("p"), lock="2026-01-01T00:04:00Z,default,q", also="n2")
    late = cluster.create(asking("q"))
    cluster.filter(late, ["n2"])
    cluster.tells = False
    cluster.change("default/q", node_name="n1")

    waiting = cluster.bind("default/p", "n1")

    assert waiting is None
    assert cluster.nodes["n1"].annotations[LOCK].endswith(",default,q")


def test_fc_035_a_bind_to_another_node_than_the_reserved_one_is_refused_and_cleans_up() -> None:
    cluster = ready(asking("p"), also="n2")

    answer = cluster.bind("default/p", "n2")

    assert answer is not None
    assert "reserved on node n1, not on n2" in answer
    assert not any(isinstance(each, CreateBinding) for each in cluster.performed)
    assert cluster.used("n1") == {}
    assert not cluster.rebuilt().ledger.holdings
    assert cluster.pods["default/p"].annotations == {}


def test_a_bind_without_a_reservation_is_refused() -> None:
    cluster = ready()
    cluster.create(asking("p"))

    answer = cluster.bind("default/p", "n1")

    assert answer is not None
    assert "no devices reserved on node n1" in answer


def test_a_pod_without_devices_is_bound_without_a_lock() -> None:
    cluster = ready(lock=written(NOW_S, ("default", "x")))
    cluster.create(pod("plain"))

    answer = cluster.bind("default/plain", "n1")

    assert answer == ""
    assert cluster.patches("n1") == []


def test_a_pod_that_is_deleted_while_it_waits_gives_up_its_place() -> None:
    pods = [asking(name) for name in "abc"]
    cluster = ready(*pods)
    for each in pods:
        cluster.bind(each.uid, "n1")

    cluster.delete("default/b")
    answered = cluster.answers["default/b"]
    cluster.allocate("n1")

    assert answered == 'pod "b" not found'
    assert cluster.answers["default/c"] == ""


def test_a_pod_that_is_filtered_again_while_it_waits_is_bound_once() -> None:
    cluster = ready(asking("a"), asking("b"))
    cluster.bind("default/a", "n1")
    cluster.bind("default/b", "n1")

    cluster.filter(cluster.pods["default/b"], ["n1"])
    cluster.bind("default/b", "n1")
    cluster.allocate("n1")

    assert cluster.answers["default/b"] == ""
    created = [each.name for each in cluster.performed if isinstance(each, CreateBinding)]
    assert created == ["a", "b"]


def test_a_bind_that_is_asked_for_twice_is_answered_as_what_it_is() -> None:
    cluster = ready(asking("a"), asking("b"), also="n2")
    cluster.bind("default/a", "n1")
    cluster.bind("default/b", "n1")

    waiting = cluster.bind("default/b", "n1")

    assert waiting == "pod default/b is being bound already"
    assert cluster.bind("default/a", "n1") == ""
    assert cluster.bind("default/a", "n2") == 'pod "a" not found'


def test_a_reservation_does_not_run_out_while_its_pod_is_being_bound() -> None:
    settings = LiveSettings(reservation_timeout_s=10)
    cluster = ready(asking("a"), asking("b"), settings=settings)
    cluster.bind("default/a", "n1")
    cluster.bind("default/b", "n1")

    cluster.wait(20)

    assert cluster.used("n1") == {"GPU-n1": (2, 2000, 0)}
    cluster.wait(10)
    cluster.wait(1)
    assert cluster.answers["default/b"].startswith("timed out after 28s")
    assert cluster.used("n1") == {"GPU-n1": (1, 1000, 0)}


def test_a_node_whose_version_is_not_known_is_read_before_it_is_locked() -> None:
    cluster = ready(asking("p"))
    cluster.live.node_seen(cluster.nodes["n1"], now_s=NOW_S)

    answer = cluster.bind("default/p", "n1")

    assert answer == ""
    assert names(cluster.performed)[:2] == ["ReadNode", "PatchNode"]


def test_more_binds_than_may_wait_for_one_node_are_refused() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a", slots=3000, memory=10**6)))
    pods = [stored(pod(f"p{index}", gpu=1, gpumem=1)) for index in range(1026)]
    for each in pods:
        cluster.filter(each)

    answers = [cluster.bind(each.uid, "n1") for each in pods]

    assert answers[0] == ""
    assert answers[1:-1] == [None] * 1024
    assert str(answers[-1]).startswith("too many pods wait for node n1")
    cluster.wait(30)
    assert len(cluster.answers) == 1026


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-01T00:05:00Z,team,p", Lock(taken_s=NOW_S, owner=("team", "p"))),
        ("2026-01-01T08:05:00+08:00,team,p", Lock(taken_s=NOW_S, owner=("team", "p"))),
        ("2026-01-01T00:05:00Z", Lock(taken_s=NOW_S)),
    ],
)
def test_a_lock_says_when_it_was_taken_and_by_whom(value: str, expected: Lock) -> None:
    assert read(value) == expected


@pytest.mark.parametrize(
    "value", ["", "now", "2026-01-01T00:05:00", "2026-01-01T00:05:00Z,a", "a,b,c,d"]
)
def test_a_value_that_is_no_lock_says_so(value: str) -> None:
    found = read(value)

    assert isinstance(found, MalformedLock)
    assert found.fault.startswith(("malformed lock annotation: ", "parsing time "))


def test_a_malformed_lock_is_the_answer_of_one_bind_and_is_removed() -> None:
    cluster = ready(asking("a"), asking("b"), asking("c"))
    for name in "abc":
        cluster.bind(f"default/{name}", "n1")

    cluster.annotate("n1", {LOCK: "x,y"})

    error = "malformed lock annotation: expected 3 parts, got 2 from x,y"
    assert cluster.answers == {"default/a": "", "default/b": error, "default/c": ""}


@pytest.mark.parametrize(
    ("taken_s", "owner", "hold"),
    [
        (NOW_S - 301, ("team", "other"), Hold.EXPIRED),
        (NOW_S - 299, ("team", "other"), Hold.OTHERS),
        (NOW_S - 301, ("team", "p"), Hold.OWN),
        (NOW_S - 1, None, Hold.OTHERS),
    ],
)
def test_a_lock_holds_for_its_owner_and_for_a_while(
    taken_s: float, owner: tuple[str, str] | None, hold: Hold
) -> None:
    found = standing(Lock(taken_s=taken_s, owner=owner), ("team", "p"), now_s=NOW_S, timeout_s=300)

    assert found is hold

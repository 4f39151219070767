"""Reservations that are written when the pod is bound: in one patch, and what becomes of them if it is not."""

from msgspec.structs import replace

from springtide.base.annotations import BIND_PHASE, BIND_TIME, NODE, NODE_LOCK, RESERVED_AT
from springtide.engine.live import CreateBinding, Failed, Fault, LiveSettings, PatchNode, PatchPod
from springtide.engine.live.lock import written
from springtide.model.pod import Pod
from tests.builders import card, pod
from tests.living import LOST, NOW_S, Cluster, broken, gpu_node, missing, stored

AT_BIND = LiveSettings(scheduler_name="hami-scheduler", writes_at_bind=True)
AT_FILTER = LiveSettings(scheduler_name="hami-scheduler")
WORK = "hami.io/vgpu-devices-to-allocate"
P = "default/p"


def two_nodes(settings: LiveSettings = AT_BIND) -> Cluster:
    """Return a cluster of two nodes with a card each, of which one takes a whole pod."""
    cluster = Cluster(settings)
    for name in ("n1", "n2"):
        cluster.add(gpu_node(name, card(f"GPU-{name}", memory=1000)))
    cluster.performed.clear()
    return cluster


def whole(name: str) -> Pod:
    """Return a pod that takes all memory of a card."""
    return stored(pod(name, gpu=1, gpumem=1000))


def pod_patches(cluster: Cluster) -> list[PatchPod]:
    return [each for each in cluster.performed if isinstance(each, PatchPod)]


def restarted(cluster: Cluster) -> None:
    """Let the process start anew."""
    cluster.live = cluster.rebuilt()


def test_a_filter_holds_the_devices_and_writes_nothing() -> None:
    cluster = two_nodes()

    answer = cluster.filter(whole("p"), ["n1"])

    assert answer.node == "n1"
    assert answer.patch is None
    assert pod_patches(cluster) == []
    assert cluster.used("n1") == {"GPU-n1": (1, 1000, 0)}
    assert cluster.events() == [
        "FilteringSucceed: find fit node(n1), 0 nodes not fit, 1 nodes fit(n1:0.00)"
    ]


def test_a_bind_writes_everything_in_one_patch_once_the_node_is_locked() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.now_s += 3

    error = cluster.bind(P, "n1")

    assert error == ""
    kinds = [type(each) for each in cluster.performed if not hasattr(each, "reason")]
    assert kinds[:3] == [PatchNode, PatchPod, CreateBinding]
    (patch,) = pod_patches(cluster)
    assert patch.labels == {NODE: "n1"}
    assert patch.annotations == {
        NODE: "n1",
        RESERVED_AT: str(int(NOW_S)),
        WORK: "GPU-n1,NVIDIA,1000,0:;",
        "hami.io/vgpu-devices-allocated": "GPU-n1,NVIDIA,1000,0:;",
        BIND_PHASE: "allocating",
        BIND_TIME: str(int(NOW_S) + 3),
    }


def test_a_bind_that_nobody_holds_devices_for_is_told_to_schedule_again() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    restarted(cluster)

    error = cluster.bind(P, "n1")

    assert error == "pod default/p has no devices reserved on node n1: it is scheduled again"
    assert cluster.events()[-1] == f"BindingFailed: {error}"
    assert cluster.used("n1") == {}
    assert NODE_LOCK not in cluster.nodes["n1"].annotations
    assert cluster.filter(cluster.pods[P], ["n1"]).node == "n1"


def test_what_was_written_by_another_scheduler_is_bound_as_it_is() -> None:
    cluster = two_nodes(AT_FILTER)
    cluster.filter(whole("p"), ["n1"])
    before = cluster.pods[P].annotations
    cluster.settings = AT_BIND
    restarted(cluster)
    cluster.performed.clear()

    error = cluster.bind(P, "n1")

    assert error == ""
    (patch,) = pod_patches(cluster)
    assert patch.annotations.keys() == {BIND_PHASE, BIND_TIME}
    assert before.items() <= cluster.pods[P].annotations.items()


def test_a_pod_that_is_deleted_before_its_bind_leaves_nothing() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.delete(P)

    error = cluster.bind(P, "n1")

    assert error == 'pod "gone" not found'
    assert cluster.used("n1") == {}
    assert cluster.quota("default") == {}
    assert not any(isinstance(each, PatchNode | PatchPod) for each in cluster.performed)


def test_a_patch_that_fails_releases_the_lock_and_keeps_the_devices_for_the_next_try() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.bind_faults[PatchPod] = [broken()]

    failed = cluster.bind(P, "n1")
    locks = cluster.nodes["n1"].annotations.get(NODE_LOCK)
    held, left = cluster.used("n1"), dict(cluster.pods[P].annotations)
    again = cluster.bind(P, "n1")

    assert failed == "apiserver 500"
    assert locks is None
    assert left == {}
    assert held == {"GPU-n1": (1, 1000, 0)}
    assert again == ""
    assert cluster.pods[P].annotations[WORK] == "GPU-n1,NVIDIA,1000,0:;"


def test_a_patch_of_a_pod_that_is_gone_releases_the_lock() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.bind_faults[PatchPod] = [missing("pod", "p")]

    error = cluster.bind(P, "n1")

    assert error == 'pods "p" not found'
    assert NODE_LOCK not in cluster.nodes["n1"].annotations


def test_a_pod_that_is_filtered_twice_is_bound_to_its_second_node_only() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.filter(cluster.pods[P], ["n2"])

    first = cluster.bind(P, "n1")
    cluster.filter(cluster.pods[P], ["n2"])
    second = cluster.bind(P, "n2")

    assert first == (
        "pod default/p has its devices reserved on node n2, not on n1: it is scheduled again"
    )
    assert second == ""
    assert cluster.used("n1") == {}
    assert cluster.pods[P].annotations[WORK] == "GPU-n2,NVIDIA,1000,0:;"


def test_what_a_failed_bind_has_written_is_overwritten_when_another_node_is_chosen() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="busy")]
    cluster.bind(P, "n1")
    left = dict(cluster.pods[P].annotations)

    answer = cluster.filter(cluster.pods[P], ["n2"])
    restarted(cluster)

    assert left[NODE] == "n1"
    assert answer.patch is not None
    assert cluster.used("n1") == {}
    assert cluster.used("n2") == {"GPU-n2": (1, 1000, 0)}
    assert cluster.bind(P, "n2") == ""


def test_what_a_failed_bind_has_written_counts_though_the_caller_has_not_seen_it() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    unseen = cluster.pods[P]
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="busy")]
    cluster.bind(P, "n1")

    answer = cluster.live.filter(unseen, ["n2"], now_s=cluster.now_s)

    assert answer.patch is not None
    assert answer.patch.annotations[NODE] == "n2"


def test_what_a_failed_bind_has_written_is_taken_off_when_no_node_is_left() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="busy")]
    cluster.bind(P, "n1")

    cluster.filter(cluster.pods[P], [])

    assert not cluster.pods[P].annotations.keys() & {NODE, RESERVED_AT, WORK}
    assert cluster.used("n1") == {}


def test_a_patch_that_was_made_though_its_answer_was_lost_is_made_again() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    cluster.bind_faults[PatchPod] = [Failed(fault=Fault.OTHER, message=LOST)]

    lost = cluster.bind(P, "n1")
    again = cluster.bind(P, "n1")

    assert lost == LOST
    assert again == ""
    assert cluster.used("n1") == {"GPU-n1": (1, 1000, 0)}


def test_nothing_is_bound_by_a_process_that_has_lost_the_lead_while_it_waited() -> None:
    cluster = two_nodes()
    cluster.create(stored(pod("holder", gpu=1, gpumem=100)))
    cluster.annotate("n1", {NODE_LOCK: written(NOW_S, ("default", "holder"))})
    cluster.filter(whole("p"), ["n1"])
    waiting = cluster.bind(P, "n1")
    cluster.live.is_entitled = False

    cluster.annotate("n1", {NODE_LOCK: None})

    assert waiting is None
    assert cluster.answers[P] == "this replica does not lead any more: the pod is scheduled again"
    assert NODE_LOCK not in cluster.nodes["n1"].annotations
    assert pod_patches(cluster) == []


def test_devices_that_another_scheduler_has_given_away_meanwhile_are_not_bound() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])
    text = "GPU-n1,NVIDIA,1000,0:;"
    notes = {NODE: "n1", RESERVED_AT: str(int(NOW_S)), WORK: text}
    notes["hami.io/vgpu-devices-allocated"] = text
    cluster.create(replace(whole("other"), annotations=notes, node_name="n1", phase="Running"))

    error = cluster.bind(P, "n1")

    assert error == (
        "device GPU-n1 of node n1 has been given to another pod meanwhile: the pod is scheduled again"
    )
    assert NODE_LOCK not in cluster.nodes["n1"].annotations
    assert cluster.pods[P].node_name == ""


def test_a_reservation_that_nobody_binds_is_over_after_a_while() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])

    cluster.wait(AT_BIND.reservation_timeout_s + 2)

    assert cluster.used("n1") == {}
    assert cluster.live.tracking.expired == 1


def test_a_pod_whose_bind_failed_before_loses_the_mark_of_it_at_the_bind() -> None:
    cluster = two_nodes()
    notes = {BIND_PHASE: "failed", BIND_TIME: "1", WORK: ";"}
    cluster.create(replace(whole("p"), annotations=notes))

    cluster.filter(cluster.pods[P], ["n1"])
    error = cluster.bind(P, "n1")

    assert error == ""
    assert cluster.pods[P].annotations[BIND_PHASE] == "allocating"
    assert cluster.pods[P].annotations[WORK] == "GPU-n1,NVIDIA,1000,0:;"


def test_a_pod_that_somebody_else_binds_unwritten_is_told_what_to_configure() -> None:
    cluster = two_nodes()
    cluster.filter(whole("p"), ["n1"])

    cluster.change(P, node_name="n1")

    assert cluster.events()[-1].startswith(
        "BindingFailed: the pod was bound before its devices were written on it"
    )
    assert "reservationWrittenAt" in cluster.events()[-1]
    assert cluster.used("n1") == {}

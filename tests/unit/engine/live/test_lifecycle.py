"""What pods hold while they live: init containers, several containers, and being told twice."""

from collections.abc import Sequence

from msgspec.structs import replace

from springtide.model.pod import Container, Pod, PodSpec
from tests.builders import card, pod, resources
from tests.living import Cluster, gpu_node, placed_pod

INIT = "GPU-0,NVIDIA,20000,10:;"
APP = "GPU-0,NVIDIA,10000,5:;"
QUOTA = {"nvidia.com/gpumem": 10000, "nvidia.com/gpucores": 5}


def running(text: str, *, inits: int, apps: int) -> Pod:
    asked = resources({"nvidia.com/gpu": 1})
    init = tuple(Container(name=f"i{index}", limits=asked) for index in range(inits))
    app = tuple(Container(name=f"a{index}", limits=asked) for index in range(apps))
    bare = replace(pod("p", on="n1"), spec=PodSpec(containers=app, init_containers=init))
    return placed_pod(bare, on="n1", text=text)


def told(*pods: Pod) -> Cluster:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-0")))
    for each in pods:
        cluster.create(each)
    cluster.live.ledger.check()
    return cluster


def shrunk(pods: Sequence[Pod]) -> tuple[dict[str, tuple[int, int, int]], dict[str, int]]:
    cluster = told(*pods)
    return cluster.used("n1"), cluster.quota("default")


def test_t69_init_and_app_containers_of_one_card_count_the_larger_of_both() -> None:
    cluster = told(running(INIT + APP, inits=1, apps=1))

    assert cluster.used("n1") == {"GPU-0": (1, 20000, 10)}


def test_t70_once_all_init_containers_have_ended_only_the_others_count() -> None:
    before = running(INIT + APP, inits=1, apps=1)

    used, quota = shrunk([before, replace(before, is_init_done=True)])

    assert used == {"GPU-0": (1, 10000, 5)}
    assert quota == QUOTA


def test_t71_being_told_again_changes_nothing() -> None:
    before = running(INIT + APP, inits=1, apps=1)
    after = replace(before, is_init_done=True)

    used, quota = shrunk([before, after, replace(after)])

    assert used == {"GPU-0": (1, 10000, 5)}
    assert quota == QUOTA


def test_t72_two_app_containers_of_one_card_take_two_slots() -> None:
    cluster = told(running(APP + APP, inits=0, apps=2))

    assert cluster.used("n1") == {"GPU-0": (2, 20000, 10)}


def test_a_pod_that_is_told_of_before_its_node_holds_its_devices_once_the_node_is_there() -> None:
    cluster = Cluster()
    cluster.create(running(APP, inits=0, apps=1))
    waiting = cluster.quota("default")

    cluster.add(gpu_node("n1", card("GPU-0")))

    assert waiting == cluster.quota("default") == QUOTA
    assert cluster.used("n1") == {"GPU-0": (1, 10000, 5)}
    cluster.live.ledger.check()


def test_pods_of_a_node_that_is_gone_count_for_their_quota_and_get_it_back_with_the_node() -> None:
    cluster = told(running(APP, inits=0, apps=1))

    cluster.remove_node("n1")
    away = cluster.quota("default")
    cluster.add(gpu_node("n2", card("GPU-x")))
    cluster.add(gpu_node("n1", card("GPU-0")))

    assert away == QUOTA
    assert cluster.used("n1") == {"GPU-0": (1, 10000, 5)}
    assert cluster.used("n2") == {}
    cluster.live.ledger.check()


def test_an_allocation_that_is_taken_off_a_running_pod_is_free() -> None:
    whole = running(APP, inits=0, apps=1)

    cluster = told(whole, replace(whole, annotations={}))

    assert cluster.used("n1") == {}
    assert cluster.quota("default") == {}

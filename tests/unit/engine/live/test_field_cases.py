"""Situations from the field that are about quotas, in a scheduler that runs."""

from msgspec.structs import replace

from springtide.base.quantity import parse
from springtide.engine.live import Submitted
from springtide.model.device import Device
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.quotas import NamespaceQuota
from tests.builders import card, pod, resources
from tests.living import Cluster, gpu_node, stored

GPUMEM, GPUCORES = "nvidia.com/gpumem", "nvidia.com/gpucores"
OVER = {"n1": "1/1 ResourceQuotaNotFit"}


def limited(*devices: Device, **limits: int) -> Cluster:
    """Return a cluster of one node, whose namespace may have so much."""
    cluster = Cluster()
    amounts = tuple((f"nvidia.com/{name}", parse(str(each))) for name, each in limits.items())
    cluster.live.quota_seen(NamespaceQuota(namespace="default", name="quota", limits=amounts))
    cluster.add(gpu_node("n1", *devices))
    return cluster


def part(name: str, **amounts: int) -> Container:
    """Return a container that asks for so much."""
    limits = resources({f"nvidia.com/{key}": each for key, each in amounts.items()})
    return Container(name=name, limits=limits, requests=limits)


def of_parts(name: str, *containers: Container, init: tuple[Container, ...] = ()) -> Pod:
    """Return a pod of these containers."""
    spec = PodSpec(containers=containers, init_containers=init)
    return stored(replace(pod(name), spec=spec))


def test_fc_016_the_quota_is_charged_for_every_card_and_denies_what_is_over_it() -> None:
    cluster = limited(card("GPU-a"), card("GPU-b"), gpumem=4096, gpucores=50)

    answer = cluster.filter(stored(pod("p1", gpu=2, gpumem=2048, gpucores=20)))
    denied = cluster.live.admit(Submitted(pod=pod("p2", gpu=1, gpumem=1)))

    assert answer.node == "n1"
    assert cluster.quota("default") == {GPUMEM: 4096, GPUCORES: 40}
    assert (denied.is_allowed, denied.message) == (False, "exceeding resource quota")


def test_fc_017_whole_cards_and_parts_of_them_are_charged_and_refused() -> None:
    cluster = limited(card("GPU-a", memory=40960), gpumem=25600)
    asked = [part("main", gpu=1), part("main", **{"gpu": 1, "gpumem-percentage": 70})]

    refused = [cluster.filter(of_parts(f"p{n}", each)) for n, each in enumerate(asked)]
    unused = cluster.quota("default")
    small = cluster.filter(stored(pod("small", gpu=1, gpumem=1000)))

    assert [each.refusals for each in refused] == [OVER, OVER]
    assert not any(unused.values())
    assert small.node == "n1"
    assert cluster.quota("default") == {GPUMEM: 1000}


def test_fc_033_an_init_container_without_devices_shifts_nothing() -> None:
    cluster = limited(card("GPU-a", memory=40000), gpumem=24000)
    both = [part(name, **{"gpu": 1, "gpumem-percentage": 40}) for name in ("a", "b")]

    plain = cluster.filter(of_parts("plain", *both))
    with_init = cluster.filter(of_parts("with-init", *both, init=(Container(name="prep"),)))

    assert plain.refusals == with_init.refusals == OVER
    assert not any(cluster.quota("default").values())

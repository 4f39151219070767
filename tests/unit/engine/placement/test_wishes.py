"""The pod with one of its wishes lowered."""

from msgspec.structs import replace

from springtide.base.quantity import of
from springtide.engine.placement.wishes import Wish, WishKind, lowered, written
from springtide.model.pod import Container, Pod
from tests.builders import pod

MEMORY = Wish(
    kind=WishKind.MEMORY, resource="nvidia.com/gpumem", marker="nvidia.com/gpu", asked=900
)
PART = Wish(
    kind=WishKind.MEMORY_PART,
    resource="nvidia.com/gpumem-percentage",
    marker="nvidia.com/gpu",
    asked=100,
    default=100,
    overruled_by="nvidia.com/gpumem",
    whole_only="nvidia.com/gpucores",
)


def amounts(who: Pod, resource: str) -> list[int | None]:
    """Return what each container says of a resource."""
    quantities = [written(each, resource) for each in who.spec.containers]
    return [None if each is None else each.value() for each in quantities]


def with_containers(*pods: Pod) -> Pod:
    """Return one pod with the containers of all of these."""
    containers = tuple(each.spec.containers[0] for each in pods)
    return replace(pods[0], spec=replace(pods[0].spec, containers=containers))


def test_only_containers_that_ask_for_more_are_lowered() -> None:
    who = with_containers(pod(gpu=1, gpumem=900), pod(gpu=1, gpumem=100), pod(cpu=1))

    found = lowered(who, MEMORY, 500)

    assert amounts(found, "nvidia.com/gpumem") == [500, 100, None]


def test_request_and_limit_stay_equal() -> None:
    found = lowered(pod(gpu=1, gpumem=900), MEMORY, 500).spec.containers[0]

    assert dict(found.requests)["nvidia.com/gpumem"] == of(500)
    assert dict(found.limits)["nvidia.com/gpumem"] == of(500)


def test_what_a_default_stands_for_is_written_once_it_is_lowered() -> None:
    who = with_containers(pod(gpu=1), pod(gpu=1, gpumem=900))

    found = lowered(who, PART, 40)

    assert amounts(found, "nvidia.com/gpumem-percentage") == [40, None]


def test_what_only_whole_devices_come_with_is_taken_away() -> None:
    found = lowered(pod(gpu=1, gpucores=100), PART, 40)

    assert amounts(found, "nvidia.com/gpucores") == [None]


def test_init_containers_are_lowered_too() -> None:
    one = pod(gpu=1, gpumem=900)
    who = replace(one, spec=replace(one.spec, init_containers=one.spec.containers))

    found: tuple[Container, ...] = lowered(who, MEMORY, 500).spec.init_containers

    assert [written(each, "nvidia.com/gpumem") for each in found] == [of(500)]

"""Extended resources that classes of devices stand for."""

import pytest

from springtide.base import quantity
from springtide.engine.dynamic_resources.extended import (
    classes_by_resource,
    extended_names,
    extended_requests,
)
from springtide.model.device_slices import DeviceClass
from springtide.model.pod import Container, PodSpec
from springtide.model.resource_claims import Exactly

GPU = "example.com/gpu"
CLASS = DeviceClass(name="gpu", extended_resource=GPU)


def container(count: int, *, is_sidecar: bool = False, resource: str = GPU) -> Container:
    asked = ((resource, quantity.of(count)),)
    return Container(name="any", requests=asked, is_sidecar=is_sidecar)


def counts(requests: tuple[Exactly, ...]) -> list[tuple[str, int]]:
    return [(each.request.name, each.request.count) for each in requests]


def test_a_class_stands_for_its_resource_and_for_its_own_name() -> None:
    found = classes_by_resource([CLASS, DeviceClass(name="nic")])

    assert {name: each.name for name, each in found.items()} == {
        GPU: "gpu",
        "deviceclass.resource.kubernetes.io/gpu": "gpu",
        "deviceclass.resource.kubernetes.io/nic": "nic",
    }


@pytest.mark.parametrize(
    ("created", "name"), [(("2026-01-01", "2026-02-01"), "b"), (("", ""), "a")]
)
def test_of_several_classes_the_youngest_stands_for_a_resource(
    created: tuple[str, str], name: str
) -> None:
    first, second = (
        DeviceClass(name=each, extended_resource=GPU, created=when)
        for each, when in zip("ab", created, strict=True)
    )

    assert classes_by_resource([second, first])[GPU].name == name


def test_only_resources_that_are_asked_for_count() -> None:
    implicit = "deviceclass.resource.kubernetes.io/gpu"
    spec = PodSpec(
        containers=(
            container(1),
            container(0, resource="example.com/none"),
            container(1, resource="cpu"),
        ),
        init_containers=(container(1, resource=implicit),),
    )

    assert extended_names(spec) == {GPU, implicit}


@pytest.mark.parametrize(
    ("init", "main", "expected"),
    [
        ([], [1, 2], [("container-0-request-0", 1), ("container-1-request-0", 2)]),
        ([(2, False)], [1], [("container-0-request-0", 1), ("container-1-request-0", 1)]),
        ([(1, False)], [2], [("container-1-request-0", 2)]),
        ([(1, True)], [1], [("container-0-request-0", 1), ("container-1-request-0", 1)]),
        (
            [(1, True), (3, False)],
            [1],
            [
                ("container-0-request-0", 1),
                ("container-1-request-0", 2),
                ("container-2-request-0", 1),
            ],
        ),
    ],
)
def test_containers_ask_for_what_they_need_beyond_what_others_keep(
    init: list[tuple[int, bool]], main: list[int], expected: list[tuple[str, int]]
) -> None:
    spec = PodSpec(
        containers=tuple(container(count) for count in main),
        init_containers=tuple(container(count, is_sidecar=sidecar) for count, sidecar in init),
    )

    assert counts(extended_requests(spec, {GPU: CLASS})) == expected


def test_several_resources_of_one_container_are_several_requests() -> None:
    asked = tuple((name, quantity.of(1)) for name in ("example.com/a", "example.com/b"))
    spec = PodSpec(containers=(Container(name="any", requests=asked),))

    found = extended_requests(spec, {"example.com/a": CLASS, "example.com/b": CLASS})

    assert counts(found) == [("container-0-request-0", 1), ("container-0-request-1", 1)]

"""Which groups are similar (cases S1 to S8 of the peer's own tests, and devices)."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from springtide.engine.capacity.similarity import Similarity
from springtide.engine.simulation.templates import Template
from springtide.model.device import Device
from tests.builders import Amount, card, cards, node, pod, resources
from tests.estimates import template


def of(
    *,
    capacity: Mapping[str, Amount] | None = None,
    allocatable: Mapping[str, Amount] | None = None,
    labels: Mapping[str, str] | None = None,
    used_cpu: str = "",
    used_memory: Amount = 0,
    devices: tuple[Device, ...] = (),
) -> Template:
    have = {"cpu": 4, "memory": 1000, "pods": 110, **(capacity or {})}
    made = replace(
        node(labels=labels),
        capacity=resources(have),
        allocatable=resources({**have, **(allocatable or {})}),
    )
    pods = [pod("agent", cpu=used_cpu, memory=used_memory)] if used_cpu else []
    return template(made, pods=pods, devices=devices)


def are_similar(one: Template, other: Template, *, ignored: frozenset[str] = frozenset()) -> bool:
    similarity = Similarity(ignored_labels=ignored)
    answer = similarity.holds(one, other)
    assert answer == similarity.holds(other, one)
    return answer


def test_equal_templates_are_similar() -> None:
    assert are_similar(of(), of())


def test_cores_must_be_equal() -> None:
    assert not are_similar(of(capacity={"cpu": "1000m"}), of(capacity={"cpu": "1001m"}))


@pytest.mark.parametrize(("cpu", "expected"), [("999m", True), ("500m", False)])
def test_allocatable_may_differ_a_little(cpu: str, expected: bool) -> None:  # noqa: FBT001 - a case
    one = of(capacity={"cpu": "1000m"})
    other = of(capacity={"cpu": "1000m"}, allocatable={"cpu": cpu})

    assert are_similar(one, other) is expected


def test_a_resource_that_only_one_has_tells_them_apart() -> None:
    assert not are_similar(of(), of(capacity={"nvidia.com/gpu": 1}))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1000, 986, True),
        (1000, 984, False),
        ("16116152Ki", "15944120Ki", True),
        ("16116152Ki", "16438475Ki", False),
    ],
)
def test_memory_may_differ_a_little(one: Amount, other: Amount, expected: bool) -> None:  # noqa: FBT001 - a case
    assert are_similar(of(capacity={"memory": one}), of(capacity={"memory": other})) is expected


def test_what_pods_leave_free_may_differ_a_little() -> None:
    one = of(used_cpu="500m", used_memory=500)
    other = of(allocatable={"memory": 999}, used_cpu="501m", used_memory=501)

    assert are_similar(one, other)


def test_what_pods_leave_free_may_not_differ_much() -> None:
    assert not are_similar(of(used_cpu="500m"), of(used_cpu="1500m"))


def test_a_resource_that_only_one_of_them_spends_tells_them_apart() -> None:
    agent = pod("agent", others={"example.com/dongle": 1})
    made = node(others={"example.com/dongle": 4})

    assert not are_similar(template(made), template(made, pods=[agent]))


@pytest.mark.parametrize(
    "label",
    [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "beta.kubernetes.io/fluentd-ds-ready",
        "example.com/pool",
    ],
)
def test_some_labels_do_not_count(label: str) -> None:
    one, other = of(labels={label: "a"}), of(labels={label: "b"})

    assert are_similar(one, other, ignored=frozenset({"example.com/pool"}))


@pytest.mark.parametrize("labels", [{}, {"character": "another"}])
def test_all_other_labels_count(labels: dict[str, str]) -> None:
    assert not are_similar(of(labels={"character": "one"}), of(labels=labels))


def test_cards_of_another_size_or_model_tell_them_apart() -> None:
    plain = of(devices=cards(2))

    assert not are_similar(plain, of(devices=cards(2, memory=40960)))
    assert not are_similar(plain, of(devices=(card(), card(model="NVIDIA-L4"))))
    assert not are_similar(plain, of(devices=cards(1)))
    assert not are_similar(plain, of())


def test_ids_health_and_order_of_cards_do_not_count() -> None:
    one = of(devices=(card("a", memory=1), card("b", memory=2)))
    other = of(devices=(card("c", memory=2, is_healthy=False), card("d", memory=1)))

    assert are_similar(one, other)

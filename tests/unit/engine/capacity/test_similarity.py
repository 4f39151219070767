"""Which groups are similar, beside the published cases (`test_balancing_rows`): devices above all."""

from springtide.engine.capacity.similarity import Similarity
from springtide.engine.simulation.templates import Template
from springtide.model.device import Device
from tests.builders import card, cards, node, pod
from tests.estimates import template


def of(*, used_cpu: str = "", devices: tuple[Device, ...] = ()) -> Template:
    pods = [pod("agent", cpu=used_cpu)] if used_cpu else []
    return template(node(cpu=4), pods=pods, devices=devices)


def are_similar(one: Template, other: Template) -> bool:
    answer = Similarity().holds(one, other)
    assert answer == Similarity().holds(other, one)
    return answer


def test_equal_templates_are_similar() -> None:
    assert are_similar(of(), of())


def test_what_pods_leave_free_may_not_differ_much() -> None:
    assert not are_similar(of(used_cpu="500m"), of(used_cpu="1500m"))


def test_a_resource_that_only_one_of_them_spends_tells_them_apart() -> None:
    agent = pod("agent", others={"example.com/dongle": 1})
    made = node(others={"example.com/dongle": 4})

    assert not are_similar(template(made), template(made, pods=[agent]))


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

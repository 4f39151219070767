"""The numbers behind refusals."""

import pytest

from springtide.model.device import DeviceView, Use
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import FAMILY
from tests.unit.vendors.ascend.building import SOFT, ask, chip, chips, container, pod, view

C = "Ascend910C"


def detail(wanted: Pod, node: DeviceView) -> str:
    wish = ask(wanted)
    answer = FAMILY.place(wish, node)
    assert isinstance(answer, Refusal)
    return FAMILY.detail(wish, node.inventory, answer)


@pytest.mark.parametrize(
    ("wanted", "node", "expected"),
    [
        (pod(container(count=1)), view(chip(memory_mib=100)), "65536 MiB asked, 100 MiB a card"),
        (
            pod(container(count=1)),
            view(chip(), uses=[Use(memory_mib=1)]),
            "65536 MiB asked, less is free of 65536 MiB a card",
        ),
        (
            pod(container(count=2)),
            view(chip()),
            "2 cards asked, 1 on the node: Ascend910B3, Ascend910B3 asked",
        ),
        (
            pod(container("main", C, count=2)),
            view(chip("a", word=C), chip("b", word=C, index=2)),
            "2 cards asked, 2 on the node, in whole modules of two",
        ),
        (
            pod(container(count=1, memory=5, core=50), annotations=SOFT),
            view(chip()),
            "soft split asked, and the node does not support it (hami-vnpu-core)",
        ),
        (
            pod(container(count=1, memory=5, core=50), annotations=SOFT),
            view(chip(mode="hami-core"), uses=[Use(cores=60)]),
            "50 cores asked, fewer are free of 100 a card",
        ),
        (
            pod(container(count=1), annotations={"hami.io/use-Ascend910B3-uuid": "x"}),
            view(*chips("a", "b")),
            "card x asked; the node has a, b",
        ),
        (pod(container(count=1)), view(chip("a", is_healthy=False)), "unhealthy: a"),
    ],
)
def test_a_refusal_comes_with_its_numbers(wanted: Pod, node: DeviceView, expected: str) -> None:
    assert detail(wanted, node) == expected

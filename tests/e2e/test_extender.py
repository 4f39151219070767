"""The extender in a process of its own, called by an unmodified kube-scheduler, with device plugins that answer."""

import signal
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS, annotations, phases
from tests.e2e.ours import configured, extender, free_port, share_of_a_card
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node

ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
CARDS: Final = 4
NODES: Final = 3
TO_A_CARD: Final = 2

pytestmark = pytest.mark.timeout(180)


def half_a_card(name: str) -> Object:
    """Return a pod of which two fit on a card."""
    return share_of_a_card(name, memory_mib=2000, cores=50)


def test_pods_are_scheduled_though_the_extender_is_killed_meanwhile(
    planes: Planes, tmp_path: Path
) -> None:
    port, log = free_port(), tmp_path / "extender.log"
    plane = planes(Setup(has_controllers=True, extenders=(configured(port),)))
    names = [f"pod-{each}" for each in range(NODES * CARDS * TO_A_CARD)]

    with running_fleet(plane, [gpu_node(f"gpu-{each}", cards=CARDS) for each in range(NODES)]):
        with extender(plane, port, log) as first:
            for name in names:
                plane.create(PODS, half_a_card(name))
            eventually(lambda: phases(plane), lambda found: "Running" in found.values())
            first.send_signal(signal.SIGKILL)
        with extender(plane, port, log) as second:
            found = eventually(
                lambda: phases(plane), lambda found: set(found.values()) == {"Running"}
            )
            second.send_signal(signal.SIGTERM)
            code = second.wait(60)

    cards = [annotations(plane, f"{PODS}/{name}")[ALLOCATED].partition(",")[0] for name in names]
    assert sorted(found) == sorted(names)
    assert {cards.count(card) for card in cards} == {TO_A_CARD}
    assert code == 0
    assert b'"event":"bug"' not in log.read_bytes()

"""An unmodified kube-scheduler chooses nodes by scores of ours, and our bind reserves on what it chose."""

from pathlib import Path
from typing import Final

import pytest

from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS, annotations, phases
from tests.e2e.ours import configured, extender, free_port, share_of_a_card
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node

CONFIGURATION: Final = """
apiVersion: springtide.io/v1alpha1
kind: ExtenderConfiguration
nodeChoice: scheduler
"""
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
NODE: Final = "hami.io/vgpu-node"
CARDS: Final = 2
NODES: Final = 3
TO_A_CARD: Final = 2
WEIGHT: Final = 100
"""So that our scores go before those of kube-scheduler's plugins."""

pytestmark = pytest.mark.timeout(180)


def are_running(plane: ControlPlane, names: list[str]) -> None:
    """Return when all pods run."""
    eventually(
        lambda: phases(plane),
        lambda found: all(found.get(name) == "Running" for name in names),
    )


def test_nodes_are_filled_one_after_the_other_and_no_card_beyond_what_it_has(
    planes: Planes, tmp_path: Path
) -> None:
    port, log, config = free_port(), tmp_path / "extender.log", tmp_path / "extender.yaml"
    config.write_text(CONFIGURATION)
    called = {**configured(port), "prioritizeVerb": "prioritize", "weight": WEIGHT}
    plane = planes(Setup(has_controllers=True, extenders=(called,)))
    names = [f"pod-{each}" for each in range(NODES * CARDS * TO_A_CARD)]
    first, rest = names[: CARDS * TO_A_CARD], names[CARDS * TO_A_CARD :]

    with (
        running_fleet(plane, [gpu_node(f"gpu-{each}", cards=CARDS) for each in range(NODES)]),
        extender(plane, port, log, options=(f"--config={config}",)),
    ):
        for name in first:
            plane.create(PODS, share_of_a_card(name, memory_mib=2000, cores=50))
            are_running(plane, [name])
        for name in rest:
            plane.create(PODS, share_of_a_card(name, memory_mib=2000, cores=50))
        are_running(plane, names)

    told = {name: annotations(plane, f"{PODS}/{name}") for name in names}
    cards = [each[ALLOCATED].partition(",")[0] for each in told.values()]
    assert len({told[name][NODE] for name in first}) == 1
    assert {cards.count(card) for card in cards} == {TO_A_CARD}
    assert len(set(cards)) == NODES * CARDS
    assert b'"event":"bug"' not in log.read_bytes()
    assert b'"event":"prioritize"' in log.read_bytes()

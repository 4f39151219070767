"""A fleet of nodes with cards on a real API server, by the clock of this machine."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from springtide.edge.kube import Connection, KubeCluster, Waiting
from springtide.edge.machine import MachineClock, SeededRng, noise
from springtide.model.device import Device
from tests.standin.bodies import FakeNode
from tests.standin.fleet import Fleet
from tests.standin.hands import KubeHands
from tests.standin.plugin import NVIDIA, Devices
from tests.standin.worker import Pace

CARDS: Final = 8
SHARES: Final = 10


def live_fleet(connection: Connection, nodes: Iterable[FakeNode], *, beat_s: float) -> Fleet:
    """Return a fleet that renews leases and reports devices this often."""
    clock = MachineClock()
    waiting = Waiting(clock=clock, rng=SeededRng(noise()), pause=asyncio.sleep)
    pace = Pace(clock=clock, now=now, beat_s=beat_s, report_s=beat_s)
    cluster = KubeCluster(connection, waiting=waiting)
    return Fleet(cluster, KubeHands(connection), nodes, pace=pace)


def gpu_node(name: str, *, cards: int = CARDS) -> FakeNode:
    """Return a node with cards that several pods may share each, half of them on each side."""
    devices = tuple(
        Device(
            id=f"GPU-{name}-{index}",
            index=index,
            slots=SHARES,
            memory_mib=81_920,
            cores=100,
            type="NVIDIA A100-SXM4-80GB",
            numa=index * 2 // cards,
            mode="hami-core",
            is_healthy=True,
        )
        for index in range(cards)
    )
    return FakeNode(name=name, devices=(Devices(family=NVIDIA, devices=devices),))


def now() -> datetime:
    """Return the time of this machine, which other programs go by, too."""
    return datetime.now(UTC)  # noqa: TID251

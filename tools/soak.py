"""Does anything stay behind? Pods come, are bound and deleted again on a real control plane, many of them.

`python tools/soak.py --pods 20000` starts etcd, API server, controllers, kube-scheduler and the extender,
lets pods come from several threads, and deletes each: most once they have their devices, some while they
are scheduled. At the end nobody may hold anything. Exit status 1 says that somebody does.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from springtide.edge.cluster import Cluster, NotFound, pod
from tests.e2e import ours
from tests.e2e.commands import Object, Setup
from tests.e2e.controlplane import (
    MISSING,
    ControlPlane,
    all_programs,
    control_plane,
)
from tests.e2e.crowds import PATIENT_S, a_cluster, create_all, create_nodes, metrics
from tests.e2e.fleets import Aside
from tests.e2e.objects import PODS
from tests.e2e.waiting import eventually
from tests.standin.answering import Answering
from tests.standin.live import CARDS
from tests.standin.seen import Pod

NODES: Final = 50
WAVE: Final = 500
"""Pods that come at once; the next ones come when these are gone."""
HURRIED: Final = 0.1
"""So large a part of them is deleted as soon as it is there."""
WAVE_S: Final = 300.0
HOLDING: Final = ("hami_gpu_memory_allocated_bytes", "hami_vgpu_memory_allocated_bytes")
OWN: Final = ("springtide_extender_reservations_held", "springtide_extender_reservations_leaked")


class Soaked(msgspec.Struct, frozen=True, kw_only=True):
    """What it came to; `left` is what is still held, by metric."""

    pods: int
    took_s: float
    left: dict[str, float]
    outcomes: dict[str, float]
    memory_mib: tuple[float, ...]


def soak(programs: Path, folder: Path, *, pods: int, tell: Callable[[str], None]) -> Soaked:
    """Let so many pods come and go, and return what is left of them."""
    port, log = ours.free_port(), folder / "extender.log"
    setup = Setup(has_controllers=True, extenders=(ours.configured(port),), grace_s=PATIENT_S)
    options = ["--node-scheduler-policy=spread"]
    with (
        control_plane(programs, folder, setup) as plane,
        ours.extender(plane, port, log, options=options) as process,
        a_cluster(plane) as (cluster, aside),
    ):
        create_nodes(plane, NODES)
        ours.wait_for_devices(port, NODES * CARDS)
        plugins = Answering(cluster, then=lambda served: _delete(cluster, served))
        running = aside.start(plugins.run())
        begun_s = time.monotonic()
        memory = []
        for first in range(0, pods, WAVE):
            _wave(plane, cluster, aside, range(first, min(first + WAVE, pods)))
            memory.append(_memory_mib(process.pid))
            tell(f"{first + WAVE:,} pods, {time.monotonic() - begun_s:.0f} s, {memory[-1]:.0f} MiB")
        left = eventually(lambda: _left(port), lambda found: not found, limit_s=WAVE_S)
        assert not running.done()
        assert b'"event":"bug"' not in log.read_bytes()
        return Soaked(
            pods=pods,
            took_s=time.monotonic() - begun_s,
            left=left,
            outcomes={k: v for k, v in metrics(port).items() if "binds_total" in k},
            memory_mib=tuple(memory),
        )


def _wave(plane: ControlPlane, cluster: Cluster, aside: Aside, numbers: range) -> None:
    """Let pods come, delete some at once, and wait until all are gone."""
    chance = random.Random(numbers.start)  # noqa: S311 - nothing is secret here
    create_all(plane, PODS, [_a_pod(number, chance) for number in numbers])
    for number in numbers:
        if chance.random() < HURRIED:
            aside.done(_delete_named(cluster, f"soaked-{number}"))
    eventually(lambda: _count(plane), lambda found: found == 0, limit_s=WAVE_S)


def _a_pod(number: int, chance: random.Random) -> Object:
    memory_mib = chance.choice((1000, 2000, 4000, 8000))
    return ours.share_of_a_card(
        f"soaked-{number}", memory_mib=memory_mib, cores=chance.choice((1, 5))
    )


async def _delete(cluster: Cluster, served: Pod) -> None:
    await _delete_named(cluster, served.metadata.name)


async def _delete_named(cluster: Cluster, name: str) -> None:
    try:
        await cluster.delete(pod("default", name), grace_s=0)
    except NotFound:
        return


def _count(plane: ControlPlane) -> int:
    return len(plane.ask("GET", PODS)["items"])


def _left(port: int) -> dict[str, float]:
    """Return what anybody is said to hold."""
    found = metrics(port)
    return {
        name: value
        for name, value in found.items()
        if value and name.partition("{")[0] in (*HOLDING, *OWN)
    }


def _memory_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (line,) = (each for each in lines if each.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=20_000, help="how many (%(default)s)")
    asked = parser.parse_args()
    programs = all_programs()
    if programs is None:
        print(MISSING)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        came = soak(
            programs, Path(folder), pods=asked.pods, tell=lambda text: print(text, flush=True)
        )
    rate = came.pods / came.took_s
    print(f"{came.pods:,} pods came and went in {came.took_s:.0f} s, {rate:.0f} a second.")
    print(
        f"Binds: {came.outcomes}. Memory: {came.memory_mib[0]:.0f} to {came.memory_mib[-1]:.0f} MiB."
    )
    print("Nothing is left." if not came.left else f"Left: {came.left}")
    return 1 if came.left else 0


if __name__ == "__main__":
    sys.exit(main())

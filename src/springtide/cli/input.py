"""The input of a command: what files say, and the live cluster where that is asked for."""

import sys

from msgspec.structs import replace

from springtide.apps.planner import Onlooker
from springtide.base.clock import Clock
from springtide.base.telling import Level
from springtide.cli.options import Cluster
from springtide.cli.progress import READING, reading
from springtide.edge.files import read
from springtide.wire.documents import Input, decode
from springtide.wire.k8s.resources import judged


def read_input(
    paths: tuple[str, ...],
    cluster: Cluster | None,
    *,
    clock: Clock,
    onlooker: Onlooker,
    keeps_raws: bool = False,
) -> Input:
    """Return all that was found; raises what reading and decoding raise, and `Ended` for a cluster."""
    started_s = clock.monotonic_s()
    found = _read(paths, cluster, onlooker=onlooker, keeps_raws=keeps_raws)
    onlooker.tell(
        Level.DEBUG,
        "input_read",
        objects=sum(found.counts.values()),
        problems=len(found.problems),
        seconds=round(clock.monotonic_s() - started_s, 3),
    )
    return found


def _read(
    paths: tuple[str, ...],
    cluster: Cluster | None,
    *,
    onlooker: Onlooker,
    keeps_raws: bool,
) -> Input:
    progress = onlooker.progress
    progress.begin(READING)
    sources = read(paths, sys.stdin.buffer)
    if cluster is None:
        progress.begin(reading(sources))
        return decode(sources, keeps_raws=keeps_raws)
    # Only what talks to a cluster loads what it takes to do so.
    from springtide.cli import live  # noqa: PLC0415

    harvest = live.read(cluster, judged(), onlooker=onlooker)
    sources = [*sources, *harvest.sources]
    progress.begin(reading(sources))
    found = decode(sources, keeps_raws=keeps_raws)
    return replace(found, notes=(*found.notes, *live.notes(harvest)))

"""The input of a command: what files say, and the live cluster where that is asked for."""

import sys

from msgspec.structs import replace

from springtide.base.clock import Clock
from springtide.cli.options import Cluster
from springtide.edge.files import read
from springtide.wire.documents import Input, decode
from springtide.wire.k8s.resources import judged


def read_input(
    paths: tuple[str, ...], cluster: Cluster | None, *, clock: Clock, keeps_raws: bool = False
) -> Input:
    """Return all that was found; raises what reading and decoding raise, and `Ended` for a cluster."""
    sources = read(paths, sys.stdin.buffer)
    if cluster is None:
        return decode(sources, keeps_raws=keeps_raws)
    # Only what talks to a cluster loads what it takes to do so.
    from springtide.cli import live  # noqa: PLC0415

    harvest = live.read(cluster, judged(), clock=clock)
    found = decode([*sources, *harvest.sources], keeps_raws=keeps_raws)
    return replace(found, notes=(*found.notes, *live.notes(harvest)))

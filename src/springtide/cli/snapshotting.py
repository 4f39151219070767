"""What `springtide snapshot` does once its options are read: read, take out, write."""

import gzip
import os
import sys
from collections.abc import Mapping
from typing import Final

import click
import msgspec

from springtide.apps.snapshot import Choices, Snapshot, run
from springtide.cli.options import STDIN, Cluster
from springtide.cli.watching import watched
from springtide.edge.files import read, write
from springtide.edge.machine import secret
from springtide.wire.k8s.resources import RESOURCES
from springtide.wire.source import Source

KEY_VARIABLE: Final = "SPRINGTIDE_ANONYMISE_KEY"
"""Whoever sets it gets the same made-up names again, in later snapshots too."""

KEY_BYTES: Final = 32


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, what to keep of it and where to put it."""

    paths: tuple[str, ...]
    cluster: Cluster | None
    output: str
    is_anonymised: bool
    keeps_arguments: bool
    verbosity: int = 0


def save(order: Order) -> None:
    """Write the snapshot, and say on standard error what it holds and what it does not."""
    snapshot = run(
        _sources(order),
        Choices(keeps_arguments=order.keeps_arguments, key=_key() if order.is_anonymised else None),
    )
    if order.output == STDIN:
        sys.stdout.buffer.write(snapshot.data)
    else:
        is_packed = order.output.endswith(".gz")
        # Without the time of day, the same cluster gives the same file.
        write(order.output, gzip.compress(snapshot.data, mtime=0) if is_packed else snapshot.data)
    click.echo(_account(snapshot, order.output), err=True)


def _sources(order: Order) -> list[Source]:
    files = read(order.paths, sys.stdin.buffer)
    if order.cluster is None:
        return files
    # Only what talks to a cluster loads what it takes to do so.
    from springtide.cli import live  # noqa: PLC0415

    with watched(order.verbosity) as onlooker:
        harvest = live.read(order.cluster, RESOURCES, onlooker=onlooker)
    for note in live.notes(harvest):
        click.echo(f"Warning: {note}", err=True)
    return [*files, *harvest.sources]


def _key() -> bytes:
    given = os.environ.get(KEY_VARIABLE, "")
    return given.encode() or secret(KEY_BYTES)


def _account(snapshot: Snapshot, output: str) -> str:
    where = "" if output == STDIN else f" to {output}"
    saved = f"Saved {_counted(snapshot.objects, 'object')}{where}."
    if not snapshot.left_out:
        return saved
    return f"{saved} Left out, because it decides nothing: {_kinds(snapshot.left_out)}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())

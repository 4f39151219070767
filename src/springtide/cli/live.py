"""A live cluster as input of a command: its faults as endings, and what is missing as sentences."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from springtide.base.clock import Clock
from springtide.cli.endings import DENIED, UNREACHABLE, USAGE, Ended
from springtide.cli.options import Cluster
from springtide.edge import kube
from springtide.edge.machine import SeededRng, noise
from springtide.wire.k8s.resources import Resource

QUIET_S: Final = 1.0
_RETURN: Final = "\r"


def read(cluster: Cluster, resources: Sequence[Resource], *, clock: Clock) -> kube.Harvest:
    """Return what the cluster has of these resources, or end the command."""
    access = kube.Access(
        kubeconfig=cluster.kubeconfig, context=cluster.context, timeout_s=cluster.timeout_s
    )
    progress = Progress(len(resources), clock)
    patience = kube.Patience(rng=SeededRng(noise()))
    try:
        return kube.harvest(access, resources, patience=patience, progress=progress)
    except kube.Unusable as fault:
        raise Ended(str(fault), USAGE) from fault
    except kube.Denied as fault:
        raise Ended(str(fault), DENIED) from fault
    except kube.KubeError as fault:
        raise Ended(str(fault), UNREACHABLE) from fault
    finally:
        progress.end()


def notes(harvest: kube.Harvest) -> tuple[str, ...]:
    """Return what the cluster did not give, and what to do about it."""
    found = []
    if harvest.denied:
        names = ", ".join(each.name for each in harvest.denied)
        found.append(
            f"Not read, because the right to list them in the whole cluster is missing: {names}. "
            "Have it granted to have them looked at."
        )
    if harvest.unserved:
        names = ", ".join(each.name for each in harvest.unserved)
        found.append(f"Not read, because this cluster does not serve them: {names}.")
    return tuple(found)


class Progress:
    """Says on a terminal how far the reading is, once it has taken a while."""

    def __init__(self, total: int, clock: Clock) -> None:
        self._total = total
        self._done = 0
        self._clock = clock
        self._since_s = clock.monotonic_s()
        self._width = 0

    def __call__(self, name: str) -> None:
        """Note that one more kind is read."""
        self._done += 1
        is_long = self._clock.monotonic_s() - self._since_s >= QUIET_S
        if is_long and sys.stderr.isatty():
            self._show(f"Reading the cluster: {self._done} of {self._total} kinds, {name} last")

    def end(self) -> None:
        """Leave no trace."""
        if self._width:
            self._show("")
            click.echo(_RETURN, err=True, nl=False)

    def _show(self, text: str) -> None:
        click.echo(_RETURN + text.ljust(self._width), err=True, nl=False)
        self._width = len(text)

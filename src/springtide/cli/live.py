"""A live cluster as input of a command: its faults as endings, and what is missing as sentences."""

from collections.abc import Sequence

from springtide.apps.planner import Onlooker
from springtide.base.progress import Progress
from springtide.cli.endings import DENIED, UNREACHABLE, USAGE, Ended
from springtide.cli.options import Cluster
from springtide.edge import kube
from springtide.edge.machine import SeededRng, noise
from springtide.wire.k8s.resources import Resource


def read(cluster: Cluster, resources: Sequence[Resource], *, onlooker: Onlooker) -> kube.Harvest:
    """Return what the cluster has of these resources, or end the command."""
    access = kube.Access(
        kubeconfig=cluster.kubeconfig, context=cluster.context, timeout_s=cluster.timeout_s
    )
    onlooker.progress.begin("Reading the cluster")
    progress = _Counted(len(resources), onlooker.progress)
    patience = kube.Patience(rng=SeededRng(noise()))
    try:
        return kube.harvest(
            access, resources, patience=patience, progress=progress, tell=onlooker.tell
        )
    except kube.Unusable as fault:
        raise Ended(str(fault), USAGE) from fault
    except kube.Denied as fault:
        raise Ended(str(fault), DENIED) from fault
    except kube.ClusterFault as fault:
        raise Ended(str(fault), UNREACHABLE) from fault


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


class _Counted:
    """Counts the kinds that are read, and notes it."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def __call__(self, name: str) -> None:
        """Note that one more kind is read."""
        self._done += 1
        far = f"{self._done} of {self._total} kinds, {name} last"
        self._progress.begin(f"Reading the cluster: {far}")

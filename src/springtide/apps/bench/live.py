"""Replays through the path of the live scheduler: pods as the API server shows them, all rules, the ledger.

Nothing here is made for traces but the records that go in: each pod is classified, judged by the tables,
placed exactly by its device family and held by the ledger, as a pod of a live cluster is.
"""

from collections.abc import Mapping

from springtide.apps.bench.registered import kind_of, node_of, numbered, pods_of
from springtide.apps.planner.families import SHIPPED, Policies, families, policy_table
from springtide.base.clock import Rng
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.engine.trace import NOWHERE, Placed, Run, Workload, measured
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class LivePath:
    """The live scheduler's path over the empty cluster of a workload, under these policies."""

    def __init__(self, workload: Workload, policies: Policies) -> None:
        kinds = families(None, policies)
        self.ledger = filled(workload, kinds)
        names = frozenset(name for kind in kinds.values() for name in kind.resource_names())
        self._classifier = Classifier(kinds)
        self._policies = policy_table(kinds, policies)
        self._tables = Tables(
            self.ledger,
            Framework(FrameworkConfig(ignored_resources=names)),
            kinds,
            policies=self._policies,
        )
        self._kinds = [kind_of(pod) for pod in workload.pods]

    def schedule(self, pod: Pod) -> Placement | None:
        """Return where a pod goes, and hold it there."""
        pod_class = self._classifier.classify(pod)
        self._policies.see(pod_class)
        placement = best_fit(pod_class, self._tables)
        if placement is not None:
            self.ledger.hold(holding(pod.uid, pod_class, placement))
        return placement

    def place(self, pod: int, uid: int) -> bool:
        """Place the pod with this index in the workload's list, under this number."""
        return self.schedule(numbered(self._kinds[pod], uid)) is not None

    def leave(self, uid: int) -> None:
        """Take the pod with this number off its node."""
        self.ledger.release(f"{uid}")


class LiveReplay:
    """One workload through the live path under these policies, from the empty cluster on."""

    def __init__(self, workload: Workload, policies: Policies) -> None:
        self._workload = workload
        self.path = LivePath(workload, policies)
        self._waiting = iter(pods_of(workload.pods, workload.arrivals.tolist()))
        self.placed: list[Placed] = []

    def place(self) -> Placed:
        """Place the next pod that comes."""
        placement = self.path.schedule(next(self._waiting))
        found = (
            Placed(NOWHERE, ())
            if placement is None
            else Placed(placement.row, _positions(placement))
        )
        self.placed.append(found)
        return found

    def run(self) -> Run:
        """Return what the replay has come to."""
        return measured(self._workload, self.placed)


def shipped(workload: Workload, rng: Rng) -> LiveReplay:
    """Start a replay under the policies that are recommended, which leave nothing to chance."""
    del rng
    return LiveReplay(workload, SHIPPED)


def filled(workload: Workload, kinds: Mapping[str, DeviceFamily]) -> Ledger:
    """Return a ledger of the workload's nodes, in the order of their ranks."""
    ledger = Ledger()
    for recorded in workload.nodes:
        node = node_of(recorded)
        registered = {name: kind.inventory(node) for name, kind in kinds.items()}
        assert not any(isinstance(each, Refusal) for each in registered.values())
        ledger.add_node(
            node,
            {
                name: each
                for name, each in registered.items()
                if not isinstance(each, Refusal | None)
            },
        )
    return ledger


def _positions(placement: Placement) -> tuple[int, ...]:
    return tuple(sorted(share.position for _, shares in placement.shares for share in shares))

"""What a configuration must say before an autoscaler can be made of it: the first fault is raised."""

from typing import Final

from springtide.apps.manifests.choices import Choices, Unchosen
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import WORKLOADS
from springtide.wire.origin import Origin

DEPLOYMENT: Final = "Deployment"


def demand(settings: ReplicaSettings, choices: Choices, *, origin: Origin) -> None:
    """Raise InvalidDocument for a field that cannot be, or Unchosen for an option that is missing."""
    _demand_kind(settings, origin)
    _demand_bounds(settings, origin)
    _demand_floor(settings, choices, origin)
    if not choices.has_tolerance and choices.fallback is None:
        raise Unchosen(
            f"Autoscalers of Kubernetes {'.'.join(map(str, choices.kubernetes))} have no tolerance of their own, "
            "and by that of the cluster, a tenth, 11 is never reached from 10: set the cluster's to 0 and give "
            "--tolerance-fallback cluster-flag, or scale by an executor and give --tolerance-fallback executor."
        )


def _demand_kind(settings: ReplicaSettings, origin: Origin) -> None:
    kind = settings.workload.kind
    if kind not in WORKLOADS:
        reason = (
            f"nobody knows in which order a {kind} deletes pods; write {' or '.join(WORKLOADS)}."
        )
        raise origin.fault(("workload", "kind"), reason)
    if kind == DEPLOYMENT and not settings.is_coordinated:
        raise origin.fault(
            ("deployment", "coordination"),
            "a Deployment deletes pods in no order, so an index does not keep those that hold state; "
            "write true, or make the workload a StatefulSet.",
        )


def _demand_bounds(settings: ReplicaSettings, origin: Origin) -> None:
    limits = settings.limits
    if limits.replicas_min == 0:
        reason = "with 0 replicas nobody is left to say how many are needed; write 1 or more."
        raise origin.fault(("replicas", "min"), reason)
    if limits.replicas_max == 0:
        reason = "an autoscaler has a limit; write the most replicas that there may ever be."
        raise origin.fault(("replicas", "max"), reason)


def _demand_floor(settings: ReplicaSettings, choices: Choices, origin: Origin) -> None:
    most, floor = settings.limits.most, choices.floor
    if floor is not None and most < floor:
        raise origin.fault(
            ("replicas", "max"),
            f"{most} is below {floor}, the highest index that holds state, and an autoscaler deletes "
            f"whatever is above its limit at once; write {floor} or more, or drain first.",
        )

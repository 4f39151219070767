"""What an operator may choose about the objects of a workload, and what is taken where nothing is said."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.base.errors import SpringtideError
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import Placed
from springtide.wire.k8s.scaled_schema import Container, Workload

Document = dict[str, Any]
Version = tuple[int, int]

NAMESPACE_LABEL: Final = "k8s_namespace_name"
"""The label by which the adapter knows the namespace of a sample."""
TOLERANCE_SINCE: Final[Version] = (1, 33)
TOLERANCE_ON_SINCE: Final[Version] = (1, 35)
"""Before it, the field is dropped unless the gate HPAConfigurableTolerance is on."""
STOP_S: Final = 30
"""How long a process takes to end after it has drained."""
PORT: Final = "metrics"
NO_ACCOUNTS: Final = ("", "default")


class Unchosen(SpringtideError):
    """Something must be chosen that nobody can choose for the operator; the message names the option."""


class Fallback(StrEnum):
    """How numbers are exact where an autoscaler cannot have a tolerance of its own."""

    CLUSTER_FLAG = "cluster-flag"
    EXECUTOR = "executor"


class ScaleDown(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How an autoscaler shrinks a workload; not at all until it is allowed."""

    is_allowed: bool = False
    window_s: int = 60
    pods: int = 1
    period_s: int = 30


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; what is empty is found out by `settled`.

    `floor` is the highest index that holds state, None where nobody has said it. `grace_s_min` is the
    grace that the configuration says pods have, `met_by` the selector by which members meet in the
    cluster. A container that `has_hook` keeps its own preStop. Members that do not meet in the cluster
    and are not coordinated there are not `in_cluster` and need no rights; a hook `reaches` them unless
    their process keeps it to itself.
    """

    namespace: str = ""
    selector: Mapping[str, Any] = {}
    met_by: Mapping[str, Any] = {}
    in_cluster: bool = True
    reaches: bool = True
    service_account: str = ""
    container: str = ""
    ordinals_start: int | None = None
    kubernetes: Version = TOLERANCE_ON_SINCE
    fallback: Fallback | None = None
    floor: int | None = None
    scale_down: ScaleDown = ScaleDown()
    metrics_port: str = PORT
    prestop_port: str = ""
    has_hook: bool = False
    stop_s: int = STOP_S
    grace_s_min: int = 0
    monitor_labels: Mapping[str, str] = {}
    ca_bundle: bytes = b""

    @property
    def has_tolerance(self) -> bool:
        """Return whether autoscalers of this cluster have a tolerance of their own."""
        return self.kubernetes >= TOLERANCE_SINCE


def settled(
    choices: Choices, settings: ReplicaSettings, target: Placed[Workload] | None
) -> Choices:
    """Return the choices with what the workload says in the place of what nobody did, or raise Unchosen."""
    name = settings.workload.name
    manifest = target.value if target is not None else Workload()
    pod = manifest.spec.template.spec
    chosen = container_of(manifest, choices.container)
    account = "" if pod.service_account_name in NO_ACCOUNTS else pod.service_account_name
    start = choices.ordinals_start
    return replace(
        choices,
        namespace=_namespace(choices.namespace, manifest, name),
        selector=choices.selector or _selector(manifest, choices.met_by, name),
        service_account=choices.service_account or account or name,
        container=choices.container or (chosen.name if chosen is not None else name),
        ordinals_start=manifest.spec.ordinals.start if start is None else start,
        prestop_port=choices.prestop_port or choices.metrics_port,
        has_hook=chosen is not None and bool(chosen.lifecycle.pre_stop),
    )


def container_of(manifest: Workload, name: str) -> Container | None:
    """Return the container of the member: that of the name, or the first."""
    every = manifest.spec.template.spec.containers
    return next((each for each in every if not name or each.name == name), None)


def _namespace(chosen: str, manifest: Workload, name: str) -> str:
    found = chosen or manifest.metadata.namespace
    if not found:
        raise Unchosen(
            f"Nobody says which namespace {name} is in: give --namespace, or a --workload that says it."
        )
    return found


def _selector(manifest: Workload, met_by: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    selector = manifest.spec.selector
    said: Document = {
        "matchLabels": dict(selector.match_labels),
        "matchExpressions": [
            {
                "key": each.key,
                "operator": each.operator,
                **({"values": [*each.values]} if each.values else {}),
            }
            for each in selector.match_expressions
        ],
    }
    found = {key: each for key, each in said.items() if each} or met_by
    if not found:
        raise Unchosen(
            f"Nobody says which pods are {name}'s: give --selector as in app={name}, or --workload."
        )
    return found

"""The alerts about replicas, as data: when each fires, and what it asks people to do.

Every rule is about one workload where it has a scope, and about each workload by itself where it has none.
What the cluster says of workloads and autoscalers comes from kube-state-metrics; without that, the rules that
need it never fire.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from springtide.apps.manifests.autoscaler import METRICS
from springtide.apps.manifests.choices import NAMESPACE_LABEL, Choices
from springtide.engine.replicas.selectors import TARGET_NAME, selector
from springtide.model.replicas.matcher import Matcher
from springtide.model.replicas.settings import ReplicaSettings

PULL_S: Final = 180
"""How often metrics are asked for unless a configuration says otherwise."""
PULLS: Final = 3
STATUS_AGE_S_MAX: Final = 120
NO_LEADER_S: Final = 60
CLOCK_OFFSET_S_MAX: Final = 5
DRAIN_OVERDUE_S_MAX: Final = 300
MISSING_S: Final = 300
ERROR_RATIO_MAX: Final = 0.05
ERROR_WINDOW: Final = "5m"
NOT_FOLLOWED_S: Final = 900
WHOSE: Final = f"{NAMESPACE_LABEL}, {TARGET_NAME}"
_WORKLOAD: Final = f"{{{{ $labels.{NAMESPACE_LABEL} }}}}/{{{{ $labels.{TARGET_NAME} }}}}"
_MEMBER: Final = f"{{{{ $labels.instance }}}} of {_WORKLOAD}"
_EXPECTED, _INDEX = METRICS
_REPLICAS: Final = {
    "StatefulSet": ("kube_statefulset_replicas", "statefulset"),
    "Deployment": ("kube_deployment_spec_replicas", "deployment"),
}


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which workloads the rules are about: one, or all of a kind if it has no name.

    `replicas_max` is 0 where it is the cluster's to say. A workload that is not shrunk yet has more
    replicas than it needs for as long as that is so.
    """

    namespace: str = ""
    name: str = ""
    kind: str = "StatefulSet"
    replicas_max: int = 0
    pull_s: int = PULL_S
    is_shrunk: bool = True

    def of(self, metric: str) -> str:
        """Return the selector of a metric of the members."""
        return self._matching(metric, NAMESPACE_LABEL, TARGET_NAME)

    def told(self, metric: str, label: str) -> str:
        """Return what the cluster says of the workloads, under the names that members have for them."""
        found = self._matching(metric, "namespace", label)
        for target, source in ((NAMESPACE_LABEL, "namespace"), (TARGET_NAME, label)):
            found = f'label_replace({found}, "{target}", "$1", "{source}", "(.*)")'
        return f"max by ({WHOSE}) ({found})"

    def _matching(self, metric: str, namespace_label: str, name_label: str) -> str:
        given = ((namespace_label, self.namespace), (name_label, self.name))
        return selector(metric, [Matcher(label=label, value=text) for label, text in given if text])


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One alert."""

    name: str
    expression: str
    for_s: int = 0
    severity: str = "warning"
    summary: str
    description: str


def scope_of(settings: ReplicaSettings, choices: Choices) -> Scope:
    """Return the scope of one workload."""
    return Scope(
        namespace=choices.namespace,
        name=settings.workload.name,
        kind=settings.workload.kind,
        replicas_max=settings.limits.most,
        pull_s=-(-settings.pull.interval_ms // 1000),
        is_shrunk=choices.scale_down.is_allowed,
    )


def alerts(scope: Scope) -> tuple[Alert, ...]:
    """Return all alerts, those about decisions first."""
    return (*_deciding(scope), *_moving(scope), *_seeing(scope))


def _deciding(scope: Scope) -> Iterator[Alert]:
    leaders = f"sum by ({WHOSE}) ({scope.of('hpa_leader')})"
    yield Alert(
        name="SpringtideReplicasInputUnknown",
        expression=f"max by ({WHOSE}, policy, direction) ({scope.of('hpa_policy_valid')}) == 0",
        for_s=PULLS * scope.pull_s,
        summary=f"The metric {{{{ $labels.policy }}}} of {_WORKLOAD} is unknown.",
        description="Nothing is scaled {{ $labels.direction }} by it, and nothing is scaled down at all while a metric that is "
        "required is unknown. Look at hpa_policy_unknown_total for the reason, and whether Prometheus answers and "
        "all members are scraped.",
    )
    yield Alert(
        name="SpringtideReplicasStatusOld",
        expression=f"max by ({WHOSE}) ({scope.of('hpa_status_age_seconds')}) > {STATUS_AGE_S_MAX}",
        summary=f"A member of {_WORKLOAD} has not seen the status for {{{{ $value | humanizeDuration }}}}.",
        description="It keeps its labels and follows no new round. Look at hpa_backend_errors_total of its pod, and whether "
        "it reaches the store.",
    )
    yield Alert(
        name="SpringtideReplicasNoLeader",
        expression=f"{leaders} == 0",
        for_s=NO_LEADER_S,
        severity="critical",
        summary=f"Nobody leads {_WORKLOAD}.",
        description="No number of replicas is decided until somebody does. Look whether the store answers, whether anybody "
        "holds the lock, and whether any member is neither stopping nor switched off.",
    )
    yield Alert(
        name="SpringtideReplicasTwoLeaders",
        expression=f"{leaders} > 1",
        for_s=NO_LEADER_S,
        severity="critical",
        summary=f"{{{{ $value }}}} members of {_WORKLOAD} hold themselves for the leader.",
        description="Only one of them can write, so nothing is decided twice, but a member is cut off or its clock stands. Restart "
        "the one whose hpa_status_age_seconds grows.",
    )


def _moving(scope: Scope) -> Iterator[Alert]:
    floor, wanted = (f"max by ({WHOSE}) ({scope.of(each)})" for each in (_INDEX, _EXPECTED))
    limit = scope.told("kube_horizontalpodautoscaler_spec_max_replicas", "horizontalpodautoscaler")
    if scope.replicas_max:
        limit = f"({limit} or {floor} * 0 + {scope.replicas_max})"
    metric, label = _REPLICAS[scope.kind]
    differs = "!=" if scope.is_shrunk else ">"
    yield Alert(
        name="SpringtideReplicasDrainOverdue",
        expression=f"max by ({WHOSE}, instance) ({scope.of('hpa_drain_overdue_seconds')}) > {DRAIN_OVERDUE_S_MAX}",
        summary=f"{_MEMBER} has not handed over for {{{{ $value | humanizeDuration }}}}.",
        description="It stays until it has, and so do all members below it. Look at what it still holds; if nothing can be "
        "saved any more, release its protection by the operator's command.",
    )
    yield Alert(
        name="SpringtideReplicasIndexAboveLimit",
        expression=f"{floor} > on ({WHOSE}) {limit}",
        severity="critical",
        summary=f"Index {{{{ $value }}}} of {_WORKLOAD} holds state and is above the most replicas.",
        description="An autoscaler deletes whatever is above its limit at once. Raise maxReplicas of the autoscaler now, and "
        "lower it again when hpa_stateful_index has fallen.",
    )
    yield Alert(
        name="SpringtideReplicasNotFollowed",
        expression=f"{wanted} {differs} on ({WHOSE}) {scope.told(metric, label)}",
        for_s=NOT_FOLLOWED_S,
        summary=f"{_WORKLOAD} should have {{{{ $value }}}} replicas and has not.",
        description="Look at the conditions of its autoscaler, whether the adapter answers, and whether a member with a higher "
        "hpa_stateful_index keeps the workload from shrinking.",
    )


def _seeing(scope: Scope) -> Iterator[Alert]:
    pods = f"count by ({WHOSE}) ({scope.of('up')})"
    spoken = f"count by ({WHOSE}) ({scope.of(_INDEX)})"
    yield Alert(
        name="SpringtideReplicasNumberMissing",
        expression=f"{pods} unless on ({WHOSE}) {scope.of(_EXPECTED)}",
        for_s=MISSING_S,
        severity="critical",
        summary=f"No member of {_WORKLOAD} says how many replicas are wanted, though there are {{{{ $value }}}} pods.",
        description=f"The autoscaler holds meanwhile. Look whether the pods are scraped, whether {_EXPECTED} is exported under this "
        "name, and whether there is a status.",
    )
    yield Alert(
        name="SpringtideReplicasIndexMissing",
        expression=f"{pods} > on ({WHOSE}) ({spoken} or {pods} * 0)",
        for_s=MISSING_S,
        summary=f"Not every one of the {{{{ $value }}}} pods of {_WORKLOAD} says whether it holds state.",
        description=f"The autoscaler may not shrink meanwhile. Look which pod is not scraped or exports no {_INDEX}.",
    )
    yield Alert(
        name="SpringtideReplicasClockOff",
        expression=f"max by ({WHOSE}, instance) (abs({scope.of('hpa_clock_offset_seconds')})) > {CLOCK_OFFSET_S_MAX}",
        for_s=NO_LEADER_S,
        summary=f"The clock of {_MEMBER} is off by {{{{ $value | humanizeDuration }}}}.",
        description="It moves its labels earlier or later than the others by as much. Look whether its node keeps its time by NTP.",
    )
    yield Alert(
        name="SpringtideAdapterErrors",
        expression=_errors(),
        for_s=NO_LEADER_S,
        summary="{{ $value | humanizePercentage }} of the questions for {{ $labels.metric }} are not answered.",
        description="Autoscalers hold meanwhile. Look at springtide_adapter_answers_total for the reasons, and at "
        "springtide_adapter_queries_total for whether Prometheus answers.",
    )


def _errors() -> str:
    counted = f'springtide_adapter_answers_total{{metric=~"{"|".join(METRICS)}"%s}}[{ERROR_WINDOW}]'
    failed, every = (
        f"sum by (metric) (rate({counted % more}))" for more in (',reason!="answered"', "")
    )
    return f"{failed} / {every} > {ERROR_RATIO_MAX}"

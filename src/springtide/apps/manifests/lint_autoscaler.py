"""Lint of the autoscalers that are installed for a workload: one only, exact, and limited where it should be."""

from collections.abc import Iterator
from typing import Final

from springtide.apps.manifests.autoscaler import METRICS
from springtide.apps.manifests.choices import Choices, Fallback
from springtide.apps.manifests.finding import Finding, Printed, Rule, fault, warning
from springtide.base.quantity import MalformedQuantity, compare, from_json, of
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import Placed
from springtide.wire.k8s.scaled_schema import Autoscaler, External, Metric, Rules
from springtide.wire.validation import Key, Path

WINDOW_S_MIN: Final = 60
"""How long a change takes from a member to the autoscaler: export, scrape and the adapter's refresh."""
_TARGET_NAME: Final = "hpa_target_name"
_VERSION_LABEL: Final = "hpa_target_api_version"
_DIRECTIONS: Final = ("scaleUp", "scaleDown")


def lint_autoscaler(
    found: Placed[Autoscaler], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    """Return what is wrong with an autoscaler of the workload."""
    named, ours = found.value.metadata.name, settings.workload.name
    if choices.fallback is Fallback.EXECUTOR:
        reason = f"an executor scales {ours}, and the two would undo each other; delete {named}."
        yield fault(found.origin, Rule.TWO, ("metadata", "name"), reason)
        return
    if named != ours:
        reason = f"{ours} has an autoscaler of its own, and of two none acts; delete {named}."
        yield fault(found.origin, Rule.TWO, ("metadata", "name"), reason)
        return
    yield from _bounds(found, settings, choices)
    if not found.value.api_version.startswith("autoscaling/v2"):
        reason = f"{found.value.api_version} has no such metrics; write autoscaling/v2."
        yield _mended(found, Rule.VERSION, ("apiVersion",), reason)
        return
    for index, metric in enumerate(found.value.spec.metrics):
        yield from _metric(found, metric, ("spec", "metrics", index), ours)
    yield from _missing(found)
    if choices.has_tolerance:
        yield from _tolerances(found)
    yield from _scale_down(found, choices)


def _mended(
    found: Placed[Autoscaler], rule: Rule, path: Path, reason: str, *, is_fault: bool = True
) -> Finding:
    """Return a finding that is gone once the autoscaler of ours is applied."""
    return Finding(
        rule=rule,
        origin=found.origin,
        path=path,
        reason=reason,
        is_fault=is_fault,
        mended_by=Printed.OBJECTS,
    )


def _bounds(
    found: Placed[Autoscaler], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    spec, most = found.value.spec, settings.limits.most
    path: Path = ("spec", "maxReplicas")
    if most < spec.max_replicas and choices.floor is None:
        yield fault(
            found.origin,
            Rule.MAX,
            path,
            (
                f"replicas.max lowers this from {spec.max_replicas} to {most}, and whoever is above is deleted at "
                "once, whatever it holds; say by --floor what hpa_stateful_index is."
            ),
        )
    elif spec.max_replicas < most:
        reason = f"this is below replicas.max, which is {most}, so that fewer come than are asked for; write {most}."
        yield _mended(found, Rule.MAX, path, reason)
    if choices.floor is not None and spec.max_replicas < choices.floor:
        reason = f"index {choices.floor} holds state and is above this, so that it is deleted; write {choices.floor} or more."
        yield _mended(found, Rule.MAX, path, reason)
    if spec.min_replicas == 0:
        reason = "with 0 replicas nobody is left to say how many are needed; write 1 or more."
        yield _mended(found, Rule.ZERO, ("spec", "minReplicas"), reason)


def _metric(
    found: Placed[Autoscaler], metric: Metric, path: Path, workload: str
) -> Iterator[Finding]:
    name = metric.external.metric.name
    if metric.type != "External" or name not in METRICS:
        what = name or metric.type
        reason = (
            f"{what} is no number of replicas that is wanted or needed, and the largest counts; "
            "remove it, and make it a policy of the configuration."
        )
        yield _mended(found, Rule.FOREIGN, path, reason)
        return
    inner: Path = (*path, "external")
    yield from _target(found, metric.external, (*inner, "target"))
    yield from _selector(found, metric.external, (*inner, "metric", "selector"), workload)


def _target(found: Placed[Autoscaler], external: External, path: Path) -> Iterator[Finding]:
    target = external.target
    if target.type != "AverageValue":
        reason = f"a {target.type} is multiplied by the pods that are ready; write AverageValue."
        yield _mended(found, Rule.VALUE, (*path, "type"), reason)
    elif not _equals(target.average_value, 1):
        reason = "the number is divided by this; write 1, which leaves it as it is."
        yield _mended(found, Rule.VALUE, (*path, "averageValue"), reason)


def _selector(
    found: Placed[Autoscaler], external: External, path: Path, workload: str
) -> Iterator[Finding]:
    labels = external.metric.selector.match_labels
    place: Path = (*path, "matchLabels")
    if labels.get(_TARGET_NAME) != workload:
        reason = f"without it the replicas of other workloads count; write {workload}."
        yield _mended(found, Rule.SCOPE, (*place, Key(_TARGET_NAME)), reason)
    if "/" in labels.get(_VERSION_LABEL, ""):
        reason = (
            "no value of a label has a slash, so that the adapter is never asked; remove the label."
        )
        yield _mended(found, Rule.SLASH, (*place, Key(_VERSION_LABEL)), reason)


def _missing(found: Placed[Autoscaler]) -> Iterator[Finding]:
    given = {each.external.metric.name for each in found.value.spec.metrics}
    for name in METRICS:
        if name not in given:
            reason = f"{name} is missing, and only both together keep what holds state; add it."
            yield _mended(found, Rule.BOTH, ("spec", "metrics"), reason)


def _tolerances(found: Placed[Autoscaler]) -> Iterator[Finding]:
    behavior = found.value.spec.behavior
    both = zip(_DIRECTIONS, (behavior.scale_up, behavior.scale_down), strict=True)
    for direction, rules in both:
        if not _equals(rules.tolerance, 0):
            given = "is the cluster's, a tenth," if rules.tolerance is None else "is not 0"
            yield _mended(
                found,
                Rule.TOLERANCE,
                ("spec", "behavior", direction, "tolerance"),
                f'this {given} so that small steps are swallowed; write "0".',
            )


def _scale_down(found: Placed[Autoscaler], choices: Choices) -> Iterator[Finding]:
    rules: Rules = found.value.spec.behavior.scale_down
    path: Path = ("spec", "behavior", "scaleDown")
    window_s = rules.stabilization_window_seconds
    if window_s is not None and window_s < WINDOW_S_MIN:
        reason = f"a change takes up to {WINDOW_S_MIN} s to arrive; write {WINDOW_S_MIN} or more."
        yield _mended(
            found, Rule.WINDOW, (*path, "stabilizationWindowSeconds"), reason, is_fault=False
        )
    if rules.select_policy != "Disabled" and not choices.scale_down.is_allowed:
        yield warning(
            found.origin,
            Rule.CLOSED,
            (*path, "selectPolicy"),
            "this shrinks the workload, and what is printed does not; give --allow-scale-down to keep it so.",
        )


def _equals(given: str | float | None, number: int) -> bool:
    try:
        return given is not None and compare(from_json(given), of(number)) == 0
    except MalformedQuantity:
        return False

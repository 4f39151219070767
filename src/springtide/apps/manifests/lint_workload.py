"""Lint of a workload beside its pods: how it counts, grows, shrinks and is updated."""

from collections.abc import Iterator

from springtide.apps.manifests.choices import Choices, container_of
from springtide.apps.manifests.finding import Finding, Rule, fault, warning
from springtide.apps.manifests.lint_pods import lint_pods
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import Placed
from springtide.wire.k8s.scaled_schema import Workload
from springtide.wire.validation import Path


def lint_workload(
    target: Placed[Workload], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    """Return what is wrong with a workload, and what is rarely meant."""
    yield from _replicas(target, settings, choices)
    yield from lint_pods(target, settings, choices)
    if target.value.kind == "StatefulSet":
        yield from _ordinals(target, choices)
        yield from _order(target)
        yield from _volumes(target)
        yield from _update(target, choices)


def _replicas(
    target: Placed[Workload], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    given = target.value.spec.replicas
    path: Path = ("spec", "replicas")
    if given is None:
        return
    most = settings.limits.most
    if given > most and choices.floor is None:
        yield fault(
            target.origin,
            Rule.MAX,
            path,
            (
                f"{given} are above replicas.max, which is {most}, and an autoscaler deletes the rest at once, "
                "whatever it holds; write a higher replicas.max, or say by --floor what hpa_stateful_index is."
            ),
        )
    if given == 0:
        reason = "with 0 an autoscaler is off; scale to 1 or more once."
        yield warning(target.origin, Rule.ZERO, path, reason)
    elif not target.value.metadata.uid:
        yield warning(
            target.origin,
            Rule.REPLICAS,
            path,
            "whoever applies this again sets the replicas, whatever they hold; remove the field.",
        )


def _ordinals(target: Placed[Workload], choices: Choices) -> Iterator[Finding]:
    start = target.value.spec.ordinals.start
    if start != (choices.ordinals_start or 0):
        reason = f"pods are counted from {start}, and --ordinals-start says {choices.ordinals_start}; give {start}."
        yield fault(target.origin, Rule.ORDINALS, ("spec", "ordinals", "start"), reason)


def _order(target: Placed[Workload]) -> Iterator[Finding]:
    spec = target.value.spec
    if spec.pod_management_policy != "OrderedReady":
        return
    yield warning(
        target.origin,
        Rule.ORDER,
        ("spec", "podManagementPolicy"),
        (
            "one pod that is not ready keeps all others from coming and going; write Parallel, unless members "
            "must start one after the other."
        ),
    )
    if spec.min_ready_seconds > 0:
        yield warning(
            target.origin,
            Rule.ORDER,
            ("spec", "minReadySeconds"),
            (
                f"each step waits {spec.min_ready_seconds} s more for the pod before, and may stand still; "
                "remove it, or write Parallel as podManagementPolicy."
            ),
        )


def _volumes(target: Placed[Workload]) -> Iterator[Finding]:
    if target.value.spec.retention.when_scaled == "Delete":
        yield warning(
            target.origin,
            Rule.VOLUMES,
            ("spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"),
            "what a member has written is deleted with it; write Retain, unless all of it is elsewhere too.",
        )


def _update(target: Placed[Workload], choices: Choices) -> Iterator[Finding]:
    strategy = target.value.spec.update_strategy
    container = container_of(target.value, choices.container)
    has_hook = container is None or bool(container.lifecycle.pre_stop)
    if strategy.type != "OnDelete" and not strategy.rolling_update.partition and not has_hook:
        yield warning(
            target.origin,
            Rule.UPDATE,
            ("spec", "updateStrategy"),
            (
                "an update restarts members whatever they hold; write OnDelete or a partition, or give the "
                "container a preStop hook."
            ),
        )

"""Lint of what is installed for a workload, against what its configuration says and the objects will do."""

from collections.abc import Iterator

from springtide.apps.manifests.choices import TOLERANCE_ON_SINCE, Choices
from springtide.apps.manifests.finding import Finding, Rule, warning
from springtide.apps.manifests.lint_autoscaler import lint_autoscaler
from springtide.apps.manifests.lint_workload import lint_workload
from springtide.base.errors import SpringtideError
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import Placed, Scaled
from springtide.wire.k8s.scaled_schema import Autoscaler, Workload
from springtide.wire.k8s.schema import Metadata
from springtide.wire.origin import Origin


class NotThere(SpringtideError):
    """The files do not hold the workload; the message names what they hold."""


def target_of(scaled: Scaled, settings: ReplicaSettings, namespace: str) -> Placed[Workload]:
    """Return the workload of the configuration, or raise NotThere."""
    wanted = settings.workload
    for each in scaled.workloads:
        metadata = each.value.metadata
        is_meant = (each.value.kind, metadata.name) == (wanted.kind, wanted.name)
        if is_meant and (not namespace or metadata.namespace in ("", namespace)):
            return each
    held = ", ".join(
        f"{each.value.kind} {_named(each.value.metadata)}" for each in scaled.workloads
    )
    sought = f"{namespace}/{wanted.name}" if namespace else wanted.name
    raise NotThere(
        f"--workload holds no {wanted.kind} {sought}, but {held or 'no workload at all'}: name the file that "
        "has it, or correct --namespace or `workload` in the configuration."
    )


def _named(metadata: Metadata) -> str:
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def lint(
    scaled: Scaled,
    settings: ReplicaSettings,
    choices: Choices,
    *,
    target: Placed[Workload] | None,
    origin: Origin,
) -> tuple[Finding, ...]:
    """Return all that is wrong or worth a second look, in the order of the files."""
    return tuple(_all(scaled, settings, choices, target, origin))


def _all(
    scaled: Scaled,
    settings: ReplicaSettings,
    choices: Choices,
    target: Placed[Workload] | None,
    origin: Origin,
) -> Iterator[Finding]:
    yield from _configuration(settings, choices, origin)
    if target is not None:
        yield from lint_workload(target, settings, choices)
    for each in scaled.autoscalers:
        if _is_about(each.value, settings, choices):
            yield from lint_autoscaler(each, settings, choices)


def _configuration(
    settings: ReplicaSettings, choices: Choices, origin: Origin
) -> Iterator[Finding]:
    if settings.knobs.mode is Mode.OBSERVE:
        reason = "nobody says how many replicas are wanted, so an autoscaler holds; write active in the second step."
        yield warning(origin, Rule.OBSERVE, ("mode",), reason)
    if not choices.reaches:
        reason = "a preStop hook asks /hpa/prestop beside the metrics, where it is not; write true."
        yield warning(origin, Rule.REACH, ("process", "prestopOnMetrics"), reason)
    if choices.has_tolerance and choices.kubernetes < TOLERANCE_ON_SINCE:
        version = ".".join(map(str, choices.kubernetes))
        yield warning(
            origin,
            Rule.GATE,
            (),
            (
                f"Kubernetes {version} drops a tolerance unless its gate HPAConfigurableTolerance is on; switch "
                "it on in the API server and the controller manager."
            ),
        )


def _is_about(found: Autoscaler, settings: ReplicaSettings, choices: Choices) -> bool:
    reference, workload = found.spec.scale_target_ref, settings.workload
    is_here = found.metadata.namespace in ("", choices.namespace)
    return is_here and (reference.kind, reference.name) == (workload.kind, workload.name)

"""Lint of what a workload makes its pods of: time to hand over, who they are, and whose labels are whose."""

from collections.abc import Iterator
from typing import Final

from springtide.apps.manifests.choices import NO_ACCOUNTS, Choices, container_of
from springtide.apps.manifests.finding import Finding, Printed, Rule, fault, warning
from springtide.apps.manifests.patch import ORDINALS_START, POD_NAME, PRESTOP
from springtide.apps.manifests.times import drain_s, grace_s
from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.k8s.scaled import Placed
from springtide.wire.k8s.scaled_schema import Container, Workload
from springtide.wire.validation import Key, Path

OWN_LABELS: Final = (TARGET_LABEL, READY_LABEL)
_POD: Final[Path] = ("spec", "template", "spec")


def lint_pods(
    target: Placed[Workload], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    """Return what is wrong with the pods of a workload."""
    yield from _labels(target)
    yield from _grace(target, settings, choices)
    yield from _account(target, choices)
    container = container_of(target.value, choices.container)
    if container is None:
        known = ", ".join(each.name for each in target.value.spec.template.spec.containers)
        yield fault(
            target.origin,
            Rule.CONTAINER,
            (*_POD, "containers"),
            f'none is called "{choices.container}", which --container names; there are {known}.',
        )
        return
    index = target.value.spec.template.spec.containers.index(container)
    place: Path = (*_POD, "containers", index)
    yield from _hook(target, container, place)
    yield from _environment(target, container, (*place, "env"), choices)
    yield from _port(target, choices)


def _labels(target: Placed[Workload]) -> Iterator[Finding]:
    spec = target.value.spec
    places: tuple[tuple[Path, list[str]], ...] = (
        (("spec", "selector", "matchLabels"), [*spec.selector.match_labels]),
        (("spec", "template", "metadata", "labels"), [*spec.template.metadata.labels]),
    )
    for path, labels in places:
        for label in labels:
            if label in OWN_LABELS:
                reason = "each member writes this label of its own pod; remove it here."
                yield fault(target.origin, Rule.LABELS, (*path, Key(label)), reason)
    for index, each in enumerate(spec.selector.match_expressions):
        if each.key in OWN_LABELS:
            yield fault(
                target.origin,
                Rule.LABELS,
                ("spec", "selector", "matchExpressions", index),
                f"each member writes {each.key} of its own pod; remove it here.",
            )


def _grace(
    target: Placed[Workload], settings: ReplicaSettings, choices: Choices
) -> Iterator[Finding]:
    given = target.value.spec.template.spec.termination_grace_period_seconds
    needed = grace_s(settings, choices)
    if given < needed:
        yield fault(
            target.origin,
            Rule.GRACE,
            (*_POD, "terminationGracePeriodSeconds"),
            (
                f"after {given} s a member is killed, and it needs {drain_s(settings)} s to hand over and "
                f"{choices.stop_s} s to end; write {needed} or more."
            ),
            mended_by=Printed.PATCH,
        )


def _account(target: Placed[Workload], choices: Choices) -> Iterator[Finding]:
    given = target.value.spec.template.spec.service_account_name
    if given == choices.service_account:
        return
    named = "the account of all pods" if given in NO_ACCOUNTS else f'"{given}"'
    yield warning(
        target.origin,
        Rule.ACCOUNT,
        (*_POD, "serviceAccountName"),
        (
            f"members run as {named}, and {choices.service_account} is given the rights; "
            f"write {choices.service_account}."
        ),
        mended_by=Printed.PATCH,
    )


def _hook(target: Placed[Workload], container: Container, place: Path) -> Iterator[Finding]:
    hook = container.lifecycle.pre_stop
    path: Path = (*place, "lifecycle", "preStop")
    if not hook:
        yield warning(
            target.origin,
            Rule.PRESTOP,
            path,
            f"nobody tells the member to hand over before it is stopped; ask {PRESTOP} here.",
            mended_by=Printed.PATCH,
        )
    elif PRESTOP not in str(hook):
        yield warning(
            target.origin,
            Rule.PRESTOP,
            path,
            f"this hook is left as it is; let it ask {PRESTOP} or wait until the member has handed over.",
        )


def _environment(
    target: Placed[Workload], container: Container, path: Path, choices: Choices
) -> Iterator[Finding]:
    given = {each.name: each.value for each in container.env}
    if POD_NAME not in given:
        yield warning(
            target.origin,
            Rule.NAME,
            path,
            f"a member does not learn the name of its pod; add {POD_NAME} from metadata.name.",
            mended_by=Printed.PATCH,
        )
    start = choices.ordinals_start or 0
    told = given.get(ORDINALS_START, "") or "0"
    if told != str(start):
        yield fault(
            target.origin,
            Rule.ORDINALS,
            path,
            (
                f"pods are counted from {start}, and members are told {told}, so that every index is wrong; "
                f'add {ORDINALS_START} with "{start}".'
            ),
            mended_by=Printed.PATCH,
        )


def _port(target: Placed[Workload], choices: Choices) -> Iterator[Finding]:
    containers = target.value.spec.template.spec.containers
    if all(port.name != choices.metrics_port for each in containers for port in each.ports):
        yield warning(
            target.origin,
            Rule.PORT,
            (*_POD, "containers"),
            (
                f'no port is called "{choices.metrics_port}", so that nothing is scraped; name the one with '
                "the metrics so, or give --metrics-port."
            ),
        )

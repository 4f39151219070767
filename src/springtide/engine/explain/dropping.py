"""Changes to what the pod says about where it may run: one term, annotation or port dropped."""

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.trial import Trial
from springtide.engine.explain.words import joined
from springtide.engine.placement.wishes import edited
from springtide.model.neighbours import AffinityTerm
from springtide.model.pod import Container, HostPort, Pod, PodSpec

Dropped = tuple[ChangeKind, str, str, Pod]
"""The kind, what is dropped, the sentence part, and the pod without it."""


def dropped(pod: Pod, trial: Trial) -> Iterator[Change]:
    """Yield the changes of this kind with which some row takes the pod."""
    for kind, subject, text, changed in (
        *_selector(pod),
        *_node_affinity(pod),
        *_neighbours(pod),
        *_annotations(pod, trial),
        *_ports(pod),
    ):
        row = trial.row(changed)
        if row is not None:
            yield Change(
                kind=kind,
                text=_with_types(text, row, trial) if kind is ChangeKind.DROP_ANNOTATION else text,
                subject=subject,
                node=trial.name(row),
                pod=changed,
            )


def _with_spec(pod: Pod, spec: PodSpec) -> Pod:
    return replace(pod, spec=spec)


def _selector(pod: Pod) -> Iterator[Dropped]:
    selector = pod.spec.node_selector
    for key, value in selector:
        left = tuple(item for item in selector if item[0] != key)
        label = f"{key}={value}"
        yield (
            ChangeKind.DROP_NODE_SELECTOR,
            label,
            f"drop {label} from the node selector",
            _with_spec(pod, replace(pod.spec, node_selector=left)),
        )


def _node_affinity(pod: Pod) -> Iterator[Dropped]:
    """Yield the affinity without one condition of one term, and the pod without any of it."""
    terms = pod.spec.required_node_terms
    if terms is None:
        return
    for index, term in enumerate(terms):
        for condition, left in _with_one_less(term):
            others = (*terms[:index], left, *terms[index + 1 :])
            yield (
                ChangeKind.DROP_AFFINITY,
                condition,
                f"drop {condition} from the required node affinity",
                _with_spec(pod, replace(pod.spec, required_node_terms=others)),
            )
    every = " or ".join(" and ".join(map(_condition, _all_of(term))) for term in terms)
    yield (
        ChangeKind.DROP_AFFINITY,
        every or "no term",
        f"drop the required node affinity ({every or 'it has no term, so no node meets it'})",
        _with_spec(pod, replace(pod.spec, required_node_terms=None)),
    )


def _with_one_less(term: NodeSelectorTerm) -> Iterator[tuple[str, NodeSelectorTerm]]:
    # A term without any condition matches nothing, so the last one stays.
    if len(_all_of(term)) < 2:  # noqa: PLR2004
        return
    for each in term.expressions:
        left = tuple(other for other in term.expressions if other is not each)
        yield _condition(each), replace(term, expressions=left)
    for each in term.fields:
        left = tuple(other for other in term.fields if other is not each)
        yield _condition(each), replace(term, fields=left)


def _all_of(term: NodeSelectorTerm) -> Sequence[NodeSelectorRequirement]:
    return (*term.expressions, *term.fields)


def _condition(requirement: NodeSelectorRequirement) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


def _neighbours(pod: Pod) -> Iterator[Dropped]:
    asked = pod.spec.neighbours
    for constraint in asked.hard_spread:
        left = tuple(each for each in asked.spread if each is not constraint)
        key = constraint.topology_key
        yield (
            ChangeKind.DROP_AFFINITY,
            f"topology spread over {key}",
            f"drop the topology spread constraint over {key}, or let it be ScheduleAnyway",
            _with_spec(pod, replace(pod.spec, neighbours=replace(asked, spread=left))),
        )
    for name, terms in (("affinity", asked.affinity), ("anti_affinity", asked.anti_affinity)):
        word = f"pod {name.replace('_', '-')}"
        for term in terms:
            kept = tuple(each for each in terms if each is not term)
            neighbours = replace(asked, **{name: kept})
            yield (
                ChangeKind.DROP_AFFINITY,
                f"{word} over {term.topology_key}",
                f"drop the required {word} over {term.topology_key}{_about(term)}",
                _with_spec(pod, replace(pod.spec, neighbours=neighbours)),
            )


def _about(term: AffinityTerm) -> str:
    labels = [] if term.selector is None else [f"{k}={v}" for k, v in term.selector.match_labels]
    return f" to pods with {', '.join(labels)}" if labels else ""


def _annotations(pod: Pod, trial: Trial) -> Iterator[Dropped]:
    """Yield the pod without each of the annotations that the families read."""
    families = trial.tables.families.values()
    read = sorted({name for family in families for name in family.relevant_annotations()})
    for name in read:
        if name in pod.annotations:
            left = {key: value for key, value in pod.annotations.items() if key != name}
            text = f"drop the annotation {name}: {pod.annotations[name]}"
            yield ChangeKind.DROP_ANNOTATION, name, text, replace(pod, annotations=left)


def _with_types(text: str, row: int, trial: Trial) -> str:
    """Return the text with the types of the devices that the pod would get to choose from."""
    inventories = (columns.inventory_at(row) for columns in trial.tables.ledger.devices.values())
    types = {device.type for inventory in inventories if inventory for device in inventory.devices}
    return f"{text}, so that it may use {joined(sorted(types))}" if types else text


def _ports(pod: Pod) -> Iterator[Dropped]:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    for port in dict.fromkeys(port for each in containers for port in each.host_ports):
        subject = f"{port.protocol or 'TCP'} {port.port}"
        changed = edited(pod, partial(_without_port, port=port))
        yield ChangeKind.DROP_HOST_PORT, subject, f"drop the host port {subject}", changed


def _without_port(container: Container, *, port: HostPort) -> Container:
    left = tuple(each for each in container.host_ports if each != port)
    return replace(container, host_ports=left)

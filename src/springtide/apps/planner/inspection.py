"""What the input says that no API server would have taken, and names that lead nowhere.

Rules judge such input in kube-scheduler's way: a term that does not parse is met by no node, a claim
that is not there keeps its pod from every node. The plan stands, but whoever wrote the input did not
mean it; so each finding is told with file, object, field and remedy, once for equal pods.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from springtide.base.selectors import (
    LabelSelector,
    MalformedSelector,
    NodeSelectorTerm,
    compile_selector,
    label_selector,
    term_faults,
)
from springtide.engine.framework.claims import held_claims
from springtide.model.neighbours import AffinityTerm
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.problem import Problem
from springtide.model.storage import WAIT_FOR_FIRST_CONSUMER, Claim, Storage
from springtide.wire.documents import Input

OPERATORS: Final = ("Equal", "Exists", "Lt", "Gt")
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
BINDING_MODES: Final = ("Immediate", WAIT_FOR_FIRST_CONSUMER)
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
NOT_TAKEN: Final = "No API server takes this; correct it."
NEVER_MET: Final = "No node meets it; correct it."

Fault = tuple[str, str]
"""A field, and a sentence about it."""


def inspected(found: Input) -> Iterator[Problem]:
    """Yield what is odd in the input, each with the file that its object stands in."""
    for name, faults in _objects(found):
        for field, message in faults:
            source = found.sources.get(name, "")
            yield Problem(source=source, object=name, field=field, message=message)


def notes(found: Input) -> tuple[str, ...]:
    """Return what to say of pods that run on nodes which the input does not have."""
    known = {node.name for node in found.nodes}
    count = sum(
        bool(pod.node_name) and pod.node_name not in known and not pod.is_finished
        for pod in found.pods
    )
    if not count:
        return ()
    what = "1 pod runs on a node that is" if count == 1 else f"{count} pods run on nodes that are"
    return (f"{what} not in the input. Give the Node objects as well.",)


def _objects(found: Input) -> Iterator[tuple[str, Iterator[Fault]]]:
    pods = (*found.pods, *found.manifests)
    yield from _of_pods(pods)
    for each in found.daemon_sets:
        yield f"DaemonSet/{each.key}", _within("spec.template.spec", _of_spec(each.spec))
    storage = found.storage
    waiting = [pod for pod in pods if not pod.node_name and not pod.is_finished]
    if storage.claims:
        yield from _of_references(waiting, storage)
    yield from _of_storage(storage)


# Pods


def _of_pods(pods: Iterable[Pod]) -> Iterator[tuple[str, Iterator[Fault]]]:
    first: dict[int, Pod] = {}
    counts = Counter(id(pod.spec) for pod in pods)
    for pod in pods:
        first.setdefault(id(pod.spec), pod)
    for key, pod in first.items():
        yield f"Pod/{pod.key}", _within("spec", _of_spec(pod.spec), others=counts[key] - 1)


def _within(path: str, faults: Iterable[Fault], *, others: int = 0) -> Iterator[Fault]:
    also = f" So do {others} other pods." if others > 1 else " So does another pod." * others
    return ((f"{path}.{field}", f"{message}{also}") for field, message in faults)


def _of_spec(spec: PodSpec) -> Iterator[Fault]:
    for index, each in enumerate(spec.init_containers):
        yield from _of_container(each, f"initContainers[{index}]")
    for index, each in enumerate(spec.containers):
        yield from _of_container(each, f"containers[{index}]")
    for key, value in spec.node_selector:
        yield from _of_selector(label_selector({key: value}), f'nodeSelector["{key}"]')
    terms = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    yield from _of_node_terms(spec.required_node_terms or (), terms)
    yield from _of_tolerations(spec)
    yield from _of_neighbours(spec)


def _of_container(container: Container, path: str) -> Iterator[Fault]:
    for name, amount in container.requests:
        if amount.nano < 0:
            field = f'{path}.resources.requests["{name}"]'
            yield field, f"{amount.canonical()} is below zero. {NOT_TAKEN}"


def _of_tolerations(spec: PodSpec) -> Iterator[Fault]:
    for index, each in enumerate(spec.tolerations):
        for field, value, allowed in (
            ("operator", each.operator, OPERATORS),
            ("effect", each.effect, EFFECTS),
        ):
            if value and value not in allowed:
                what = f"{value!r} is none of {', '.join(allowed)}"
                yield f"tolerations[{index}].{field}", f"{what}. {NOT_TAKEN}"


def _of_neighbours(spec: PodSpec) -> Iterator[Fault]:
    asked = spec.neighbours
    for index, each in enumerate(asked.spread):
        path = f"topologySpreadConstraints[{index}].labelSelector"
        yield from _of_selector(each.selector, path)
    for path, terms in (
        (f"affinity.podAffinity.{REQUIRED}", asked.affinity),
        (f"affinity.podAntiAffinity.{REQUIRED}", asked.anti_affinity),
        (f"affinity.podAffinity.{PREFERRED}", asked.preferred_affinity),
        (f"affinity.podAntiAffinity.{PREFERRED}", asked.preferred_anti_affinity),
    ):
        yield from _of_pod_terms(terms, path)


def _of_pod_terms(terms: Iterable[AffinityTerm], path: str) -> Iterator[Fault]:
    between = ".podAffinityTerm" if path.endswith(PREFERRED) else ""
    for index, each in enumerate(terms):
        term = f"{path}[{index}]{between}"
        yield from _of_selector(each.selector, f"{term}.labelSelector")
        yield from _of_selector(each.namespace_selector, f"{term}.namespaceSelector")


# Storage


def _of_references(pods: Iterable[Pod], storage: Storage) -> Iterator[tuple[str, Iterator[Fault]]]:
    """Yield where the claims of waiting pods lead nowhere."""
    seen: set[str] = set()
    for pod in pods:
        for key in held_claims(pod):
            claim = storage.claims.get(key)
            if claim is None:
                yield (
                    f"Pod/{pod.key}",
                    iter([_absent("spec.volumes", "PersistentVolumeClaim", key)]),
                )
            elif key not in seen:
                seen.add(key)
                yield f"PersistentVolumeClaim/{key}", _of_claim(claim, storage)


def _of_claim(claim: Claim, storage: Storage) -> Iterator[Fault]:
    if claim.volume and storage.volumes and claim.volume not in storage.volumes:
        yield _absent("spec.volumeName", "PersistentVolume", claim.volume)
    is_known = not claim.class_name or claim.class_name in storage.classes
    if not claim.is_bound and storage.classes and not is_known:
        yield _absent("spec.storageClassName", "StorageClass", claim.class_name)


def _absent(field: str, kind: str, name: str) -> Fault:
    return field, f"there is no {kind} {name!r} in the input; add it, or correct the name."


def _of_storage(storage: Storage) -> Iterator[tuple[str, Iterator[Fault]]]:
    for key, claim in storage.claims.items():
        yield f"PersistentVolumeClaim/{key}", _of_selector(claim.selector, "spec.selector")
    for name, volume in storage.volumes.items():
        path = "spec.nodeAffinity.required.nodeSelectorTerms"
        yield f"PersistentVolume/{name}", _of_node_terms(volume.node_terms or (), path)
    for name, each in storage.classes.items():
        yield f"StorageClass/{name}", _of_binding_mode(each.binding_mode)
    for capacity in storage.capacities:
        name = f"CSIStorageCapacity/{capacity.namespace}/{capacity.name}"
        yield name, _of_selector(capacity.nodes, "nodeTopology")


def _of_binding_mode(mode: str | None) -> Iterator[Fault]:
    if mode not in BINDING_MODES:
        what = "it is missing" if mode is None else f"{mode!r} is not allowed"
        yield "volumeBindingMode", f"{what}; give {' or '.join(BINDING_MODES)}."


# Selectors


def _of_selector(selector: LabelSelector | None, path: str) -> Iterator[Fault]:
    try:
        compile_selector(selector)
    except MalformedSelector as fault:
        yield path, f"{fault.reason}. {NOT_TAKEN}"


def _of_node_terms(terms: Iterable[NodeSelectorTerm], path: str) -> Iterator[Fault]:
    for index, term in enumerate(terms):
        for fault in term_faults(term, path=f"{path}[{index}]"):
            field, _, what = fault.partition(": ")
            yield field, f"{what}. {NEVER_MET}"

"""What is asked about: pods of the input, in classes of equal asks, and asks that people write.

An ask of pods is what their kind asks, not what is one pod's own: the node that it runs on, its name,
priority, volumes and gates are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.apps.headroom import words
from springtide.apps.headroom.report import Source
from springtide.base.names import NATIVE_NAMES
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.model.pod import Container, Pod, PodSpec

WORKLOADS_MAX: Final = 100


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One ask: a pod that stands for all like it, what it is called, and who asks so.

    One that `is_nobodys` was written without a namespace, so that no quota bounds it.
    """

    name: str
    source: Source
    text: str
    pod: Pod
    workloads: tuple[str, ...] = ()
    running: int = 0
    waiting: int = 0
    denied: str = ""
    device: str = ""
    portion: str = ""
    is_nobodys: bool = False


# Asks of pods


def of_pods(pods: Iterable[Pod], classifier: Classifier) -> list[Asked]:
    """Return the asks of these pods, the most frequent first."""
    alike: dict[PodClass, list[Pod]] = {}
    bare: dict[PodSpec, PodSpec] = {}
    for pod in pods:
        spec = bare.get(pod.spec) or bare.setdefault(pod.spec, _bare(pod.spec))
        kind = replace(pod, spec=spec, node_name="", nominated_node="", resize=None)
        alike.setdefault(classifier.classify(kind), []).append(pod)
    found = [_of_pods(members, bare) for members in alike.values()]
    return sorted(found, key=lambda ask: (-(ask.running + ask.waiting), -ask.waiting))


def is_asking(pod: Pod) -> bool:
    """Return whether the pod is there, and could be one more on another node."""
    return _is_one_of_many(pod) and not pod.spec.device_claims


def claiming(pods: Iterable[Pod]) -> tuple[str, ...]:
    """Return a sentence about pods that claim devices: their claims are their own."""
    count = len({pod.uid for pod in pods if _is_one_of_many(pod) and pod.spec.device_claims})
    if not count:
        return ()
    who = "1 pod claims devices" if count == 1 else f"{count} pods claim devices"
    return (f"{who} (resourceClaims) and {'is' if count == 1 else 'are'} not asked about.",)


def _is_one_of_many(pod: Pod) -> bool:
    is_over = pod.is_finished or pod.is_terminating
    return not (is_over or pod.is_daemon or pod.is_mirror)


def _of_pods(pods: Sequence[Pod], bare: Mapping[PodSpec, PodSpec]) -> Asked:
    first = pods[0]
    spec = bare[first.spec]
    workloads = tuple(dict.fromkeys(map(words.workload, pods)))
    running = sum(bool(pod.node_name) for pod in pods)
    return Asked(
        name=workloads[0],
        source="Pods",
        text=words.text_of(words.requests_of(spec)),
        pod=replace(first, spec=spec, node_name="", nominated_node="", resize=None),
        workloads=workloads[:WORKLOADS_MAX],
        running=running,
        waiting=len(pods) - running,
    )


def _bare(spec: PodSpec) -> PodSpec:
    return replace(
        spec,
        containers=_nameless(spec.containers),
        init_containers=_nameless(spec.init_containers),
        priority=0,
        may_preempt=True,
        scheduling_gates=(),
        volumes=(),
        fields=(),
    )


def _nameless(containers: Sequence[Container]) -> tuple[Container, ...]:
    # Limits count where device families read them, and they read none of these.
    return tuple(
        replace(
            each,
            name=f"container-{index}",
            limits=tuple(pair for pair in each.limits if pair[0] not in NATIVE_NAMES),
        )
        for index, each in enumerate(containers)
    )


# Asks of manifests


def of_manifests(pods: Iterable[Pod], classifier: Classifier) -> list[Asked]:
    """Return one ask for all equal pods of manifests."""
    found: dict[PodClass, Asked] = {}
    for pod in pods:
        pod_class = classifier.classify(pod)
        if pod_class not in found:
            text = words.text_of(words.requests_of(pod.spec))
            name = words.workload(pod)
            found[pod_class] = Asked(name=name, source="Given", text=text, pod=pod)
    return list(found.values())

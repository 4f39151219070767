"""A trace as the objects of a cluster, so that its pods come as those of any other.

A GPU of a trace has thousandths and nothing else. Here it is a card of 1,000 MiB, one a thousandth, and
as many slots as ever fit; cores go with memory. A pod that takes some models only names their types.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from springtide.apps.planner.families import FAMILIES, Policies
from springtide.apps.planner.setting import InvalidInput
from springtide.base.names import CPU, MEMORY, PODS
from springtide.base.quantity import Quantity, of
from springtide.engine.placement.family import DeviceFamily, Portion, Spelling
from springtide.model.device import Device
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.resources import Resources
from springtide.model.trace import GPU_MILLI, TraceNode, TracePod
from springtide.vendors import nvidia
from springtide.vendors.nvidia.codec import REGISTER
from springtide.wire.documents import Input
from springtide.wire.hami import register

NAMESPACE: Final = "trace"
PODS_MAX: Final = 1001
"""On one node, as the reference simulator of the public trace has it."""

CORES: Final = 100
_MIB: Final = 1 << 20
_NANO_A_MILLI: Final = 1_000_000

NOTE: Final = (
    "A GPU of the trace is a card of 1,000 MiB here, so that a MiB is a thousandth of it; created is "
    "the second of the trace."
)
_TIMELESS: Final = "pod {} has no creation_time; add the times or leave --with-departures out."

Stay = tuple[float, float | None]
"""When a pod came and when it went, in seconds; None if it did not go."""

Asking = Callable[[TracePod], tuple[PodSpec, Mapping[str, str]]]


def as_input(nodes: Sequence[TraceNode], pods: Sequence[TracePod]) -> Input:
    """Return the trace as the input of a replay; no pod has a node yet."""
    models = tuple(sorted({node.model for node in nodes if node.gpus}))
    spec_of = _asking(models)
    return Input(
        nodes=tuple(map(_node, nodes)),
        pods=tuple(_pod(each, spec_of) for each in pods),
        notes=(NOTE,),
        counts={"Node": len(nodes), "Pod": len(pods)},
    )


def stays(pods: Sequence[TracePod], *, source: str) -> dict[str, Stay]:
    """Return when each pod came and went, or raise `InvalidInput` where that is not known."""
    found: dict[str, Stay] = {}
    for pod in pods:
        if pod.created_s is None:
            raise InvalidInput(f"{source}: {_TIMELESS.format(pod.name)}")
        found[f"{NAMESPACE}/{pod.name}"] = (pod.created_s, pod.deleted_s)
    return found


def _node(node: TraceNode) -> Node:
    devices = tuple(
        Device(
            id=f"{node.name}-{index}",
            index=index,
            slots=GPU_MILLI,
            memory_mib=GPU_MILLI,
            cores=CORES,
            type=_type(node.model),
            is_healthy=True,
        )
        for index in range(node.gpus)
    )
    resources: Resources = (
        (CPU, Quantity(nano=node.cpu_milli * _NANO_A_MILLI)),
        (MEMORY, of(node.memory_mib * _MIB)),
        (PODS, of(PODS_MAX)),
    )
    return Node(
        name=node.name,
        labels={HOSTNAME_LABEL: node.name},
        annotations={REGISTER: register.encode(devices)} if devices else {},
        capacity=resources,
        allocatable=resources,
    )


def _type(model: str) -> str:
    return f"{nvidia.FAMILY.name}-{model}" if model else nvidia.FAMILY.name


def _pod(pod: TracePod, spec_of: Asking) -> Pod:
    spec, annotations = spec_of(pod)
    return Pod(
        namespace=NAMESPACE,
        name=pod.name,
        uid=pod.name,
        spec=spec,
        annotations=annotations,
        # Texts of one length, so that they are in the order of the times.
        created="" if pod.created_s is None else f"{pod.created_s:010}",
    )


def _asking(models: tuple[str, ...]) -> Asking:
    """Return what finds a pod's spec and annotations; equal asks share one object."""
    family = FAMILIES[nvidia.FAMILY.name]({}, Policies())

    @cache
    def made(
        cpu_milli: int, memory_mib: int, gpus: int, gpu_milli: int, wanted: tuple[str, ...]
    ) -> tuple[PodSpec, Mapping[str, str]]:
        plain: Resources = (
            (CPU, Quantity(nano=cpu_milli * _NANO_A_MILLI)),
            (MEMORY, of(memory_mib * _MIB)),
        )
        spelling = _spelled(family, gpus, gpu_milli, models, wanted)
        container = Container(
            name="main",
            requests=tuple(sorted((*plain, *spelling.requests))),
            limits=spelling.requests,
        )
        return PodSpec(containers=(container,)), dict(spelling.annotations)

    return lambda pod: made(
        pod.cpu_milli, pod.memory_mib, pod.gpus, pod.gpu_milli, tuple(sorted(set(pod.models)))
    )


def _spelled(
    family: DeviceFamily,
    gpus: int,
    gpu_milli: int,
    models: tuple[str, ...],
    wanted: tuple[str, ...],
) -> Spelling:
    if not gpus:
        return Spelling(requests=())
    portion = Portion(
        count=gpus,
        memory_mib=gpu_milli,
        cores=gpu_milli * CORES // GPU_MILLI,
        types=tuple(map(_type, wanted)),
        # A model that no node has must keep the pod away from all others.
        other_types=tuple(_type(each) for each in models if each not in wanted),
    )
    spelling = family.spell(portion)
    assert isinstance(spelling, Spelling), "the default configuration names every resource"
    return spelling

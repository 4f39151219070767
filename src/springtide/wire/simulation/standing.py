"""The pods that stand on a node, in its annotation `springtide.io/simulated-pods`, in placement order.

A JSON list of objects. Each is a pod in short, by `namespace`, `name`, `uid`, `annotations` and the
resources of its containers; or, to save the work of placing it again, with its `allocations` as a
simulation returned them.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.model.pod import Container, Pod, PodSpec
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts

PODS_MAX: Final = 1_000
"""Pods on one node; kubelets run a quarter of that."""


class _Container(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    resources: msgspec.Raw = msgspec.Raw()
    restart_policy: str = ""


class StandingPod(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that stands on a node."""

    namespace: str = "default"
    name: str = ""
    uid: str = ""
    annotations: Mapping[str, str] = {}
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] = ()
    allocations: Mapping[str, str] = {}


_PODS: Final = msgspec.json.Decoder(tuple[StandingPod, ...] | None)


def read_standing(text: str, parts: Parts) -> tuple[Pod, ...] | str:
    """Return the pods in the annotation, or what is wrong with it."""
    try:
        read = _PODS.decode(text) or ()
    except (msgspec.MsgspecError, RecursionError) as fault:
        return str(fault)
    if len(read) > PODS_MAX:
        return f"{len(read)} pods are more than {PODS_MAX}"
    try:
        pods = tuple(_pod(each, place, parts) for place, each in enumerate(read))
    except MalformedObject as fault:
        return str(fault)
    if len({pod.uid for pod in pods}) < len(pods):
        return "two pods have the same uid"
    return pods


def _pod(read: StandingPod, place: int, parts: Parts) -> Pod:
    if not read.uid and not read.name:
        raise MalformedObject(f"[{place}]", "the pod has neither uid nor name; give it one.")
    return Pod(
        namespace=read.namespace,
        name=read.name or read.uid,
        uid=read.uid or f"{read.namespace}/{read.name}",
        annotations={**read.annotations, **read.allocations},
        # What stands on a node is bound, so that what is written on it counts.
        node_name="-",
        phase="Running",
        spec=PodSpec(
            containers=_containers(read.containers, f"[{place}].containers", parts),
            init_containers=_containers(read.init_containers, f"[{place}].initContainers", parts),
        ),
    )


def _containers(read: tuple[_Container, ...], path: str, parts: Parts) -> tuple[Container, ...]:
    return tuple(_container(each, f"{path}[{place}]", parts) for place, each in enumerate(read))


def _container(read: _Container, path: str, parts: Parts) -> Container:
    requests, limits = parts.requirements(read.resources, f"{path}.resources")
    return Container(
        name=read.name,
        requests=limits if requests is None else requests,
        limits=limits,
        is_sidecar=read.restart_policy == "Always",
    )

"""Pods and nodes as extenders are sent them: whole, from the text in which they were given.

What only the API server is interested in (`managedFields`) and the images of a node, most of its
size, are left out. Objects that no API server has stored are completed as far as an extender may
look: a node that does not exist yet from its template, a pod of a manifest with its requests.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.resources import Resources
from springtide.wire.k8s.parts import plain

UNSEEN_ANNOTATIONS: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "kubectl.kubernetes.io/restartedAt",
    "cni.projectcalico.org/",
    "k8s.v1.cni.cncf.io/",
    "sidecar.istio.io/status",
    "checksum/",
)
"""Beginnings of the names of annotations that no extender reads and replicas may differ in."""

_OF_ONE_POD: Final = ("hostname", "nodeName")
_OF_ONE_CONTAINER: Final = ("env", "volumeMounts")

Object = dict[str, Any]


def node_object(raw: bytes | msgspec.Raw) -> bytes:
    """Return a node that exists as it is sent."""
    return msgspec.json.encode(_node(plain(raw)))


def template_object(node: Node, origin: bytes | msgspec.Raw | None) -> bytes:
    """Return a node that does not exist yet, with the name of its template.

    `origin` is the live node that it is copied from, if there is one: it tells what a kubelet says
    of itself, such as its architecture.
    """
    status = {} if origin is None else _part(plain(origin), "status")
    metadata = {
        "name": node.name,
        "labels": dict(node.labels),
        "annotations": dict(node.annotations),
        "creationTimestamp": None,
    }
    made: Object = {
        "metadata": metadata,
        "spec": {"taints": [_taint(each) for each in node.taints]} if node.taints else {},
        "status": {
            "capacity": _quantities(node.capacity),
            "allocatable": _quantities(node.allocatable),
            "conditions": [{"type": key, "status": each} for key, each in node.conditions.items()],
        },
    }
    if "nodeInfo" in status:
        made["status"]["nodeInfo"] = status["nodeInfo"]
    return msgspec.json.encode(made)


def pod_object(pod: Pod, raw: bytes | msgspec.Raw, *, is_stored: bool = True) -> bytes:
    """Return a pod as it is sent; `raw` is the pod, or the template that its workload makes it from."""
    read = plain(raw)
    metadata = _part(read, "metadata")
    metadata.pop("managedFields", None)
    metadata |= {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    spec, status = _part(read, "spec"), _part(read, "status")
    if not is_stored:
        _complete(spec, pod)
        metadata.setdefault("ownerReferences", _owners(pod))
        status = {"phase": pod.phase}
    return msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status})


def appearance(encoded: bytes) -> str:
    """Return a digest of what an extender may look at in a pod; replicas have the same one.

    Left out are names and the like, the environment, and the volumes that admission projects into
    every pod under a name of its own.
    """
    read = plain(encoded)
    metadata, spec = _part(read, "metadata"), _part(read, "spec")
    annotations = {
        key: value
        for key, value in _part(metadata, "annotations").items()
        if not key.startswith(UNSEEN_ANNOTATIONS)
    }
    seen = (metadata.get("namespace"), _part(metadata, "labels"), annotations, _shared(spec))
    return hashlib.sha256(msgspec.json.encode(seen, order="deterministic")).hexdigest()


def _shared(spec: Object) -> Object:
    """Return what the replicas of one workload share of their specs."""
    shared = {key: value for key, value in spec.items() if key not in _OF_ONE_POD}
    shared["volumes"] = [
        each
        for each in _list(spec, "volumes")
        if isinstance(each, dict) and "projected" not in each
    ]
    for kind in ("containers", "initContainers"):
        shared[kind] = [
            {key: value for key, value in each.items() if key not in _OF_ONE_CONTAINER}
            for each in _list(spec, kind)
            if isinstance(each, dict)
        ]
    return shared


def _node(read: Object) -> Object:
    kept = {key: value for key, value in read.items() if key not in {"apiVersion", "kind"}}
    for part, field in (("metadata", "managedFields"), ("status", "images")):
        kept[part] = {key: value for key, value in _part(read, part).items() if key != field}
    return kept


def _complete(spec: Object, pod: Pod) -> None:
    """Fill in what the API server and admission would have, for a pod that neither has seen."""
    spec.setdefault("schedulerName", pod.spec.scheduler_name)
    spec["priority"] = pod.spec.priority
    for kind, known in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
    ):
        for given, container in zip(_list(spec, kind), known, strict=False):
            wanted = {
                "requests": _quantities(container.requests),
                "limits": _quantities(container.limits),
            }
            given["resources"] = {
                **_part(given, "resources"),
                **{key: value for key, value in wanted.items() if value},
            }


def _owners(pod: Pod) -> list[Object]:
    if pod.owner is None:
        return []
    owner = {"kind": pod.owner.kind, "name": pod.owner.name, "uid": pod.owner.uid}
    return [{**owner, "controller": True}]


def _taint(taint: msgspec.Struct) -> Object:
    read: Object = msgspec.to_builtins(taint)
    return {key: value for key, value in read.items() if value}


def _quantities(resources: Resources) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in resources}


def _part(read: Mapping[str, Any], key: str) -> Object:
    """Return a copy of a part of an object, empty where it is absent or null."""
    value = read.get(key)
    return dict(value) if isinstance(value, dict) else {}


def _list(read: Mapping[str, Any], key: str) -> list[Any]:
    value = read.get(key)
    return value if isinstance(value, list) else []

"""Generated clusters, as `kubectl get nodes,pods -A -o json` prints them. Seeded, so repeatable."""

import json
import random
from typing import Any

Json = dict[str, Any]

CARDS = (
    ("a100-80g", "NVIDIA-NVIDIA A100-SXM4-80GB", 81920),
    ("a100-40g", "NVIDIA-NVIDIA A100-PCIE-40GB", 40960),
    ("l4", "NVIDIA-NVIDIA L4", 24576),
    ("t4", "NVIDIA-Tesla T4", 16384),
)
CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


def registration(index: int, memory_mib: int, kind: str, cards: int) -> str:
    """Return the registration annotation of one node."""
    devices = [
        {
            "id": f"GPU-{index:05d}-{card}",
            "index": card,
            "count": 10,
            "devmem": memory_mib,
            "devcore": 100,
            "type": kind,
            "numa": card * 2 // cards,
            "mode": "hami-core",
            "health": True,
        }
        for card in range(cards)
    ]
    return json.dumps(devices, separators=(",", ":"))


def node(index: int, groups: int, *, cards: int = 8, images: int = 50) -> Json:
    """Return one node of group `index mod groups`, as full as real ones are."""
    group = index % groups
    name, kind, memory = CARDS[group % len(CARDS)]
    hostname = f"gpu-{name}-{index:05d}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {
                "hami.io/node-handshake": "Requesting_2026-11-30 06:57:39",
                "hami.io/node-nvidia-register": registration(index, memory, kind, cards),
                "kubeadm.alpha.kubernetes.io/cri-socket": "unix:///run/containerd/containerd.sock",
                "node.alpha.kubernetes.io/ttl": "0",
            },
            "creationTimestamp": "2026-11-01T06:55:24Z",
            "labels": {
                "example.com/node-group": f"group-{group}",
                "gpu": "on",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": hostname,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": f"gpu.{name}",
                "topology.kubernetes.io/zone": f"zone-{group % 3}",
            },
            "name": hostname,
            "resourceVersion": str(1000 + index),
            "uid": f"node-uid-{index}",
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"cloud:///group-{group}/i-{index:08d}"},
        "status": {
            "addresses": [{"address": "10.0.0.1", "type": "InternalIP"}],
            "allocatable": _resources(cards),
            "capacity": _resources(cards),
            "conditions": [_condition(kind) for kind in CONDITIONS],
            "images": [_image(index, image) for image in range(images)],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.37.2"},
        },
    }


def pod(index: int, ask: Json, *, placed: tuple[str, str] | None, memory_mib: int = 0) -> Json:
    """Return one pod; `placed` is its node and device id, with this much memory allocated."""
    item: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {},
            "creationTimestamp": "2026-11-29T06:55:43Z",
            "generateName": f"work-{ask['shape']}-",
            "labels": {"app": f"work-{ask['shape']}", "pod-template-hash": "5d4f8c9b7"},
            "name": f"work-{ask['shape']}-{index:06d}",
            "namespace": f"team-{ask['shape'] % 7}",
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "ReplicaSet",
                    "name": f"work-{ask['shape']}",
                    "uid": f"rs-{ask['shape']}",
                }
            ],
            "resourceVersion": str(100000 + index),
            "uid": f"pod-uid-{index:06d}",
        },
        "spec": _pod_spec(ask),
        "status": {
            "conditions": [
                {
                    "lastProbeTime": None,
                    "lastTransitionTime": "2026-11-29T06:55:44Z",
                    "message": "0/1000 nodes are available.",
                    "reason": "Unschedulable",
                    "status": "False",
                    "type": "PodScheduled",
                }
            ],
            "phase": "Pending",
            "qosClass": "Guaranteed",
        },
    }
    if placed is not None:
        _bind(item, placed, memory_mib)
    return item


def shapes(count: int, *, seed: int = 7) -> list[Json]:
    """Return distinct asks: device memory, device cores, cpu and memory."""
    rng = random.Random(seed)
    return [
        {
            "shape": shape,
            "gpumem": 2000 + 900 * shape + rng.randrange(0, 500),
            "gpucores": rng.choice((0, 10, 20, 30)),
            "cpu": rng.choice(("500m", "1", "2", "4")),
            "memory": rng.choice(("2Gi", "4Gi", "8Gi")),
        }
        for shape in range(count)
    ]


def dump(
    *,
    nodes: int,
    placed: int,
    pending: int,
    shape_count: int,
    groups: int,
    placed_share: float = 0.05,
) -> bytes:
    """Return a whole cluster as one JSON list.

    The first two placed pods a card hold `placed_share` of its memory each; the rest hold none.
    """
    asks = shapes(shape_count)
    items = [node(index, groups) for index in range(nodes)]
    for index in range(placed):
        row, card = index % nodes, index // nodes
        name = items[row]["metadata"]["name"]
        memory_mib = int(CARDS[row % groups % len(CARDS)][2] * placed_share) if card < 16 else 0
        ask = {**asks[index % shape_count], "gpumem": memory_mib}
        placed_on = (name, f"GPU-{row:05d}-{card % 8}" if memory_mib else "")
        items.append(pod(index, ask, placed=placed_on, memory_mib=memory_mib))
    for index in range(pending):
        items.append(pod(placed + index, asks[index % shape_count], placed=None))  # noqa: PERF401 - two kinds of pods, one way to add them
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}).encode()


def node_groups(count: int, *, max_size: int = 1000) -> bytes:
    """Return the NodeGroups document for a dump of this many groups."""
    groups = [
        {
            "name": f"group-{index}",
            "nodeSelector": {"matchLabels": {"example.com/node-group": f"group-{index}"}},
            "maxSize": max_size,
            "price": 1 + index,
        }
        for index in range(count)
    ]
    document = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": groups}
    return json.dumps(document).encode()


def _pod_spec(ask: Json) -> Json:
    limits = {
        "cpu": ask["cpu"],
        "memory": ask["memory"],
    }
    if ask["gpumem"]:
        limits |= {
            "nvidia.com/gpu": "1",
            "nvidia.com/gpucores": str(ask["gpucores"]),
            "nvidia.com/gpumem": str(ask["gpumem"]),
        }
    return {
        "containers": [
            {
                "env": [{"name": f"VARIABLE_{n}", "value": f"value-{n}"} for n in range(12)],
                "image": "registry.example/team/app:1",
                "imagePullPolicy": "IfNotPresent",
                "name": "main",
                "resources": {"limits": limits, "requests": limits},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "volumeMounts": [{"mountPath": "/data", "name": "data"}],
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "nodeSelector": {"gpu": "on"},
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "hami-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {
                "effect": "NoExecute",
                "key": f"node.kubernetes.io/{condition}",
                "operator": "Exists",
                "tolerationSeconds": 300,
            }
            for condition in ("not-ready", "unreachable")
        ],
        "volumes": [{"emptyDir": {}, "name": "data"}],
    }


def _bind(item: Json, placed: tuple[str, str], memory_mib: int) -> None:
    node_name, device = placed
    if device:
        allocation = f"{device},NVIDIA,{memory_mib},0:;"
        item["metadata"]["annotations"] = {
            "hami.io/bind-phase": "success",
            "hami.io/bind-time": "1796021746",
            "hami.io/vgpu-devices-allocated": allocation,
            "hami.io/vgpu-devices-to-allocate": allocation,
            "hami.io/vgpu-node": node_name,
            "hami.io/vgpu-time": "1796021746",
        }
    item["spec"]["nodeName"] = node_name
    item["status"] = {
        "conditions": [{"status": "True", "type": kind} for kind in ("PodScheduled", "Ready")],
        "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "state": {}}],
        "phase": "Running",
        "qosClass": "Guaranteed",
    }


def _resources(cards: int) -> dict[str, str]:
    return {
        "cpu": "128",
        "ephemeral-storage": "500Gi",
        "hugepages-2Mi": "0",
        "memory": "1Ti",
        "nvidia.com/gpu": str(10 * cards),
        "pods": "250",
    }


def _condition(kind: str) -> dict[str, str]:
    return {
        "lastHeartbeatTime": "2026-11-30T06:55:24Z",
        "lastTransitionTime": "2026-11-30T06:55:24Z",
        "message": "kubelet is posting ready status" if kind == "Ready" else "kubelet has enough",
        "reason": "KubeletReady" if kind == "Ready" else "KubeletHasSufficient",
        "status": "True" if kind == "Ready" else "False",
        "type": kind,
    }


def _image(index: int, image: int) -> Json:
    name = f"registry.example/team-{index % 5}/image-{image}"
    return {"names": [f"{name}@sha256:{image:064x}", f"{name}:v1.{image}"], "sizeBytes": 10**9}

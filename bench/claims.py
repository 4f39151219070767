"""How many pods a second get the devices that they claim? 500 and 5,000 nodes x 8 devices, and new nodes.

Every device has attributes of its own, as real drivers publish them. kube-scheduler's own benchmark of
pods with claim templates asks for 40 to 80 pods a second on 500 nodes.
"""

import json
from collections.abc import Iterator
from typing import Any

from bench.figure import Figure, cpu_s
from springtide.apps.planner import Request, run
from springtide.base.clock import Clock, Rng
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

DEVICES = 8
DRIVER = "gpu.example.com"
API = "resource.k8s.io/v1"
COUNTS = (1, 2, 4)
GROUPS = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "NodeGroups",
    "groups": [{"name": "g", "maxSize": 10_000, "nodeSelector": {"matchLabels": {"pool": "g"}}}],
}
CLOCK: Clock = FixedClock()
RNG: Rng = FirstRng()


def measure() -> Iterator[Figure]:
    """Yield pods a second for pods that fit, on two sizes of clusters, and for pods that do not."""
    for name, nodes, pods in (
        ("500 nodes", 500, 1_000),
        ("5,000 nodes", 5_000, 1_000),
        ("new nodes", 1, 1_000),
    ):
        sources = [
            Source("cluster.json", json.dumps(cluster(nodes, pods)).encode()),
            Source("groups.json", json.dumps(GROUPS).encode()),
        ]
        found = decode(sources)
        spent_s = cpu_s(lambda: run(found, Request(), clock=CLOCK, rng=RNG))  # noqa: B023 - called at once
        yield Figure(name, pods / spent_s, "pods/s", f"{pods:,} pods in {len(COUNTS)} templates")


def cluster(nodes: int, pods: int) -> dict[str, Any]:
    """Return a cluster whose nodes have devices, with pending pods that claim some."""
    items = [each for index in range(nodes) for each in (_node(index), _slice(index))]
    templates = [_template(count) for count in COUNTS]
    pending = [_pod(index, COUNTS[index % len(COUNTS)]) for index in range(pods)]
    return {"apiVersion": "v1", "kind": "List", "items": [*items, CLASS, *templates, *pending]}


CLASS = {
    "apiVersion": API,
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
}


def _node(index: int) -> dict[str, Any]:
    name = f"node-{index}"
    labels = {"pool": "g", "kubernetes.io/hostname": name}
    status = {"allocatable": {"cpu": "128", "memory": "512Gi", "pods": "110"}}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def _slice(index: int) -> dict[str, Any]:
    name = f"node-{index}"
    devices = [
        {
            "name": f"gpu-{device}",
            "attributes": {
                "model": {"string": "a100"},
                "numa": {"int": device // 4},
                "uuid": {"string": f"GPU-{index}-{device}"},
                "pciBusID": {"string": f"0000:{index:04x}:{device:02x}.0"},
            },
            "capacity": {"memory": {"value": "40Gi"}},
        }
        for device in range(DEVICES)
    ]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def _template(count: int) -> dict[str, Any]:
    expression = f'device.attributes["{DRIVER}"].model == "a100"'
    selectors = [{"cel": {"expression": expression}}]
    exactly = {"deviceClassName": "gpu", "count": count, "selectors": selectors}
    devices = {
        "requests": [{"name": "gpu", "exactly": exactly}],
        "constraints": [{"matchAttribute": f"{DRIVER}/numa"}],
    }
    metadata = {"name": f"t{count}", "namespace": "default"}
    spec = {"spec": {"devices": devices}}
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def _pod(index: int, count: int) -> dict[str, Any]:
    claims = [{"name": "gpu", "resourceClaimTemplateName": f"t{count}"}]
    main = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [main], "resourceClaims": claims}
    metadata = {"name": f"pod-{index}", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

"""Prints a made-up cluster as `kubectl get -A -o json` prints a real one: seeded, so repeatable.

`python bench/kubectl_dump.py NODES PODS > cluster.json`. One List holds objects of many kinds, with the fields
that a server adds (managed fields, status, owners) and many that no scheduler reads. Nodes are of
three pools, pods of workloads that ask for cards, spread, affinity and claims; one in twenty pends.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import clusters  # noqa: E402

Json = dict[str, Any]

ZONES = ("zone-0", "zone-1", "zone-2")
WORKLOADS = 60
SYSTEM = "kube-system"
HARD = "requiredDuringSchedulingIgnoredDuringExecution"
CREATED = "2026-11-01T06:55:24Z"


def main(arguments: list[str]) -> int:
    """Prints the cluster of these numbers of nodes and pods."""
    if len(arguments) != 2 or not all(each.isdigit() for each in arguments):
        print("Give the number of nodes and of pods, as in: bench/kubectl_dump.py 1000 5000")
        return 2
    nodes, pods = map(int, arguments)
    json.dump(dump(nodes=nodes, pods=pods), sys.stdout, indent=4)
    return 0


def dump(*, nodes: int, pods: int, seed: int = 7) -> Json:
    """Return the whole cluster as one List."""
    rng = random.Random(seed)
    names = [f"pool-{index % 3}-{index:05d}" for index in range(nodes)]
    items = [
        *(namespace(name) for name in (SYSTEM, "default", *(f"team-{n}" for n in range(7)))),
        *(node(index, name) for index, name in enumerate(names)),
        *(csi_node(name) for name in names),
        *storage(),
        *workloads(),
        *system_pods(names),
        *team_pods(pods - nodes, names, rng),
        *bystanders(names),
    ]
    return {
        "apiVersion": "v1",
        "items": [managed(item) for item in items],
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def managed(item: Json) -> Json:
    """Return the object with what a server writes into its metadata."""
    metadata = item["metadata"]
    paths: Json = {f"f:{key}": {} for key in item if key not in {"apiVersion", "kind"}}
    entry = {
        "apiVersion": item["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": paths | {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}},
        "manager": "kube-controller-manager",
        "operation": "Update",
        "time": CREATED,
    }
    kind, name = item["kind"].lower(), metadata["name"]
    metadata |= {
        "creationTimestamp": CREATED,
        "managedFields": [entry, {**entry, "manager": "kubectl", "operation": "Apply"}],
        "resourceVersion": "12345",
        "uid": metadata.get("uid", f"{kind}-{metadata.get('namespace', '')}-{name}"),
    }
    return item


def thing(version: str, kind: str, name: str, namespace: str = "", **fields: object) -> Json:
    """Return an object."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def namespace(name: str) -> Json:
    """Return a namespace with the label that every server gives it."""
    made = thing("v1", "Namespace", name, spec={"finalizers": ["kubernetes"]})
    made["metadata"]["labels"] = {"kubernetes.io/metadata.name": name}
    return made | {"status": {"phase": "Active"}}


def node(index: int, name: str) -> Json:
    """Return a node: the first pool has cards, the second is for systems, the third for anything."""
    pool = index % 3
    made = clusters.node(index, 20, cards=8, images=20)
    made["metadata"]["name"] = name
    made["metadata"]["labels"] |= {
        "example.com/node-group": f"pool-{pool}",
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": ZONES[index // 3 % 3],
    }
    if pool:
        del made["metadata"]["labels"]["gpu"]
        del made["metadata"]["annotations"]["hami.io/node-nvidia-register"]
        for resources in (made["status"]["allocatable"], made["status"]["capacity"]):
            resources |= {"cpu": "12", "memory": "48Gi"}
            del resources["nvidia.com/gpu"]
    if pool == 1:
        made["spec"]["taints"] = [{"effect": "NoSchedule", "key": "dedicated", "value": "system"}]
    made["spec"]["providerID"] = f"cloud:///pool-{pool}/i-{index:08d}"
    return made


def csi_node(name: str) -> Json:
    """Return the drivers of a node."""
    driver = {
        "allocatable": {"count": 25},
        "name": "csi.example.com",
        "nodeID": name,
        "topologyKeys": ["topology.kubernetes.io/zone"],
    }
    return thing("storage.k8s.io/v1", "CSINode", name, spec={"drivers": [driver]})


def storage() -> Iterator[Json]:
    """Yield a class, and a claim with its volume for every tenth workload."""
    yield thing(
        "storage.k8s.io/v1",
        "StorageClass",
        "fast",
        provisioner="csi.example.com",
        reclaimPolicy="Delete",
        volumeBindingMode="WaitForFirstConsumer",
    )
    for index in range(0, WORKLOADS, 10):
        spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "fast"}
        asked = {"resources": {"requests": {"storage": "10Gi"}}, "volumeName": f"pv-{index}"}
        team = f"team-{index % 7}"
        claim = thing("v1", "PersistentVolumeClaim", f"data-{index}", team, spec=spec | asked)
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        yield claim | {"status": {"phase": "Bound"}}
        volume = spec | {
            "capacity": {"storage": "10Gi"},
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "name": f"data-{index}",
                "namespace": team,
            },
            "csi": {"driver": "csi.example.com", "volumeHandle": f"pv-{index}"},
        }
        yield thing("v1", "PersistentVolume", f"pv-{index}", spec=volume, status={"phase": "Bound"})


def workloads() -> Iterator[Json]:
    """Yield what owns the pods: a DaemonSet, and a Deployment with its ReplicaSet for each workload."""
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": agent_spec()}
    selector = {"matchLabels": {"app": "agent"}}
    spec: Json = {"selector": selector, "template": template}
    yield thing("apps/v1", "DaemonSet", "agent", SYSTEM, spec=spec)
    for index in range(WORKLOADS):
        labels = {"app": f"work-{index}"}
        spec = {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec_of(index)},
        }
        team = f"team-{index % 7}"
        yield thing("apps/v1", "Deployment", f"work-{index}", team, spec=spec)
        owned = thing("apps/v1", "ReplicaSet", f"work-{index}-5d4f8c9b7", team, spec=spec)
        yield owned | {"status": {"replicas": 0}}


def agent_spec() -> Json:
    """Return the spec of a pod that is on every node."""
    requests = {"cpu": "100m", "memory": "128Mi"}
    return {
        "containers": [{"name": "agent", "image": "agent:1", "resources": {"requests": requests}}],
        "tolerations": [{"operator": "Exists"}],
        "priority": 2000001000,
        "priorityClassName": "system-node-critical",
        "schedulerName": "default-scheduler",
    }


def spec_of(index: int) -> Json:
    """Return the spec of a workload's pods: some ask for cards, some are spread, affine or averse."""
    selector = {"matchLabels": {"app": f"work-{index}"}}
    ask = clusters.shapes(WORKLOADS)[index] | ({"gpumem": 0} if index % 3 else {})
    spec: Json = clusters.pod(index, ask, placed=None)["spec"]
    spec["nodeSelector"] = {"example.com/node-group": "pool-2"} if index % 3 else {"gpu": "on"}
    spec["schedulerName"] = "default-scheduler" if index % 3 else "hami-scheduler"
    if index % 4 == 1:
        constraint = {"maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone"}
        rest = {"labelSelector": selector, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [constraint | rest]
    if index % 6 == 2:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {HARD: [term]}}
    if index % 10 == 0:
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{index}"}}
        spec["volumes"].append(claim)
    return spec


def system_pods(names: list[str]) -> Iterator[Json]:
    """Yield the DaemonSet's pod of every node."""
    owner = {"apiVersion": "apps/v1", "controller": True, "kind": "DaemonSet"}
    for name in names:
        pod = thing("v1", "Pod", f"agent-{name}", SYSTEM, spec=agent_spec() | {"nodeName": name})
        pod["metadata"] |= {
            "labels": {"app": "agent"},
            "ownerReferences": [{**owner, "name": "agent", "uid": f"daemonset-{SYSTEM}-agent"}],
        }
        yield pod | {"status": {"phase": "Running", "qosClass": "Burstable"}}


def team_pods(count: int, names: list[str], rng: random.Random) -> Iterator[Json]:
    """Yield the pods of the workloads, a few of them pending and a few finished."""
    with_cards = [index for index, name in enumerate(names) if name.startswith("pool-0")]
    others = [name for name in names if name.startswith("pool-2")]
    for number in range(count):
        index = rng.randrange(WORKLOADS)
        ask = clusters.shapes(WORKLOADS)[index] | ({"gpumem": 0} if index % 3 else {})
        row = rng.choice(with_cards)
        place = (
            (rng.choice(others), "") if index % 3 else (names[row], f"GPU-{row:05d}-{number % 8}")
        )
        is_pending = rng.random() < 0.05
        made = clusters.pod(
            number, ask, placed=None if is_pending else place, memory_mib=ask["gpumem"]
        )
        made["metadata"]["namespace"] = f"team-{index % 7}"
        made["spec"] = spec_of(index) | ({} if is_pending else {"nodeName": place[0]})
        if not is_pending and rng.random() < 0.02:
            made["status"] = {"phase": "Succeeded"}
        yield made


def bystanders(names: list[str]) -> Iterator[Json]:
    """Yield objects of no use to a plan."""
    for index in range(WORKLOADS):
        team = f"team-{index % 7}"
        spec = {"selector": {"app": f"work-{index}"}, "ports": [{"port": 80}]}
        yield thing("v1", "Service", f"work-{index}", team, spec=spec)
        yield thing("v1", "ConfigMap", f"work-{index}", team, data={"a.properties": "x=1\n"})
        yield thing("v1", "Event", f"work-{index}.1", team, reason="Scheduled", type="Normal")
    for name in names:
        yield thing("coordination.k8s.io/v1", "Lease", name, "kube-node-lease", spec={})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

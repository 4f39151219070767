"""API objects as people write them, for tests of what is wrong with them.

Every builder makes one that is right; what a test gives it replaces a part of it.
"""

from typing import Any, Final

Json = dict[str, Any]

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
BOUND: Final = {"pv.kubernetes.io/bind-completed": "yes"}


def node(**status: object) -> Json:
    """Return a node with room."""
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10", **status}
    return thing("Node", "n1", labels={"zone": "a"}) | {"status": {"allocatable": allocatable}}


def pod(name: str = "p", *, requests: object = None, **spec: object) -> Json:
    """Return a pending pod."""
    container = {"name": "main", "resources": {"requests": requests or {"cpu": "1"}}}
    made = thing("Pod", name, namespace="shop", uid=name, labels={"app": "a"})
    return made | {"spec": {"containers": [container], **spec}, "status": {"phase": "Pending"}}


def thing(kind: str, name: str, *, version: str = "v1", **metadata: object) -> Json:
    """Return an object without anything in it."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}}


def claim(*, is_bound: bool = False, **spec: object) -> Json:
    """Return a claim that waits for its first consumer."""
    made = thing(
        "PersistentVolumeClaim", "data", namespace="shop", annotations=BOUND if is_bound else {}
    )
    requests = {"requests": {"storage": "1Gi"}}
    modes = ["ReadWriteOnce"]
    return made | {
        "spec": {"accessModes": modes, "storageClassName": "fast", "resources": requests, **spec}
    }


def volume(**spec: object) -> Json:
    """Return a volume of its class."""
    capacity = {"storage": "1Gi"}
    return thing("PersistentVolume", "pv") | {
        "spec": {"storageClassName": "fast", "capacity": capacity, **spec}
    }


def storage_class(**fields: object) -> Json:
    """Return the class of both."""
    made = thing("StorageClass", "fast", version="storage.k8s.io/v1")
    mode = "WaitForFirstConsumer"
    return made | {"provisioner": "csi.example.com", "volumeBindingMode": mode, **fields}


def user() -> Json:
    """Return a pod that uses the claim."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    return pod(volumes=volumes)


def required(expression: Json) -> Json:
    """Return a pod with one expression of required node affinity."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return pod(affinity={"nodeAffinity": {REQUIRED: terms}})


def near(selector: object, key: str = "zone") -> Json:
    """Return a pod with one affinity term."""
    term = {"topologyKey": key, "labelSelector": selector}
    return pod(affinity={"podAffinity": {REQUIRED: [term]}})


def spread(**fields: object) -> Json:
    """Return a pod with one constraint."""
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return pod(topologySpreadConstraints=[constraint | fields])


def configured(**fields: object) -> Json:
    """Return a scheduler configuration."""
    version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", **fields}


def arguments(name: str, **args: object) -> Json:
    """Return one with arguments of one plugin."""
    return configured(profiles=[{"pluginConfig": [{"name": name, "args": args}]}])


def groups(**fields: object) -> Json:
    """Return a document with one node group."""
    group = {"name": "g", "maxSize": 3, "nodeSelector": {"matchLabels": {"zone": "a"}}, **fields}
    return {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": [group]}


def selecting(kind: str, *, form: str = "exactly", **fields: object) -> Json:
    """Return a class of devices, or a claim or its template, with a selector that does not parse."""
    selectors = [{"cel": {"expression": "device.driver == 5 Gi"}}]
    asked = {"name": "one", "deviceClassName": "gpu", "selectors": selectors, **fields}
    request = {"name": "gpu", form: [asked] if form == "firstAvailable" else asked}
    devices = {"devices": {"requests": [request]}}
    made = thing(kind, "gpu", version="resource.k8s.io/v1", namespace="shop")
    if kind == "DeviceClass":
        return thing(kind, "gpu", version="resource.k8s.io/v1") | {"spec": {"selectors": selectors}}
    return made | {"spec": {"spec": devices} if kind == "ResourceClaimTemplate" else devices}


def claiming() -> Json:
    """Return a pod that gets a claim by the template."""
    return pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])

"""Plans that ask scheduler extenders: small documents, and extenders that answer about them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.spending import Calls
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.serving import Body, Extender
from tests.world import FirstRng, FixedClock

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
LICENCE = "example.com/licence"
AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "10"}
CALLS = Calls()


def node(name: str, **annotations: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "pool": name},
            "annotations": annotations,
            "managedFields": [{"manager": "kubelet"}],
        },
        "status": {
            "capacity": AMOUNTS,
            "allocatable": AMOUNTS,
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": ["large"]}],
        },
    }


def pod(
    name: str = "p",
    *,
    cpu: str = "1",
    part: str = "containers",
    amounts: Mapping[str, Any] | None = None,
    scheduler: str = "default-scheduler",
    **metadata: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "schedulerName": scheduler,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
    }
    spec.setdefault(part, [{"name": "i"}])[0].setdefault("resources", {}).update(amounts or {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "n", "uid": name, **metadata},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def group(name: str, *, size_max: int = 5, **annotations: str) -> dict[str, Any]:
    described = {"capacity": AMOUNTS, "annotations": annotations}
    found = {"nodeSelector": {"matchLabels": {"pool": name}}}
    own: dict[str, Any] = found if not annotations else {"template": described}
    return {"name": name, "maxSize": size_max, **own}


def groups(*items: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": items}


def read(extenders: Sequence[dict[str, Any]], *objects: dict[str, Any]) -> Input:
    documents = [{**HEADER, "extenders": extenders}, *objects]
    sources = [Source(f"in-{n}", json.dumps(each).encode()) for n, each in enumerate(documents)]
    return decode(sources, keeps_raws=True)


def planned(
    extenders: Sequence[dict[str, Any]], *objects: dict[str, Any], calls: Calls | None = CALLS
) -> PlanReport:
    found = read(extenders, *objects)
    return run(found, Request(calls=calls), clock=FixedClock(), rng=FirstRng())


def passing(request: Body) -> list[str]:
    """Returns the names of the nodes that a request asks about."""
    if request["NodeNames"] is not None:
        return list(request["NodeNames"])
    return [each["metadata"]["name"] for each in request["Nodes"]["items"]]


def agreeing(_path: str, request: Body) -> Body:
    return {"NodeNames": passing(request), "Nodes": request["Nodes"]}


def licences(_path: str, request: Body) -> Body:
    """Lets a node pass whose annotation says that it has a licence."""
    items = request["Nodes"]["items"]
    failed = {
        each["metadata"]["name"]: "no licence left"
        for each in items
        if each["metadata"].get("annotations", {}).get("licences", "0") == "0"
    }
    kept = [each for each in items if each["metadata"]["name"] not in failed]
    return {"nodes": {"items": kept}, "failednodes": failed}


def licence_extender(server: Extender, **settings: Any) -> dict[str, Any]:
    managed = [{"name": LICENCE, "ignoredByScheduler": True}]
    return {
        "urlPrefix": f"{server.url}/licences/",
        "filterVerb": "filter",
        "managedResources": managed,
        **settings,
    }


LICENSED = {"requests": {"cpu": "3", LICENCE: "1"}, "limits": {LICENCE: "1"}}

"""StatefulSets whose members hold state, on a real control plane, and what becomes of them."""

import time
from typing import Any, Final

from tests.e2e.autoscaling import (
    APISERVICES,
    RECORDED,
    SCALERS,
    SETS,
    S,
    condition,
    export,
    replicas,
    scaler,
    stateful_set,
)
from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.crews import MERGE
from tests.e2e.objects import PODS
from tests.e2e.sparing import standing
from tests.e2e.waiting import eventually, steadily
from tests.promapi import PromApi

REGISTRATION: Final = f"{APISERVICES}/v1beta1.external.metrics.k8s.io"
CALM_S: Final = 3.0
"""Several rounds of an autoscaler, in which nothing may happen."""


def has_ready(plane: ControlPlane, name: str, number: int) -> None:
    """Wait until so many pods of a StatefulSet are ready, and no others there."""
    eventually(
        lambda: plane.ask("GET", f"{SETS}/{name}")["status"],
        lambda found: (found.get("readyReplicas"), found.get("replicas")) == (number, number),
    )


def begin(
    plane: ControlPlane, api: PromApi, name: str, number: int, *metrics: str, **spec: Any
) -> Object:
    """Let a workload run whose members all hold state, with an autoscaler; return the autoscaler."""
    indices = list(range(1, number + 1)) if {S, RECORDED} & set(metrics) else ()
    export(api, name, number, indices)
    body = stateful_set(name, number)
    body["spec"].update(spec)
    plane.create(SETS, body)
    has_ready(plane, name, number)
    made: Object = plane.create(SCALERS, scaler(name, *metrics))
    eventually(lambda: condition(plane, name).get("status"), lambda found: found == "True")
    return made


def end(plane: ControlPlane, name: str) -> None:
    """Delete a workload and its autoscaler."""
    plane.ask("DELETE", f"{SCALERS}/{name}")
    plane.ask("DELETE", f"{SETS}/{name}")


def scale(plane: ControlPlane, name: str, number: int) -> None:
    """Let a StatefulSet have so many replicas, as somebody would by hand."""
    change = {"spec": {"replicas": number}}
    plane.ask("PATCH", f"{SETS}/{name}/scale", change, content_type=MERGE)


def pods(name: str, *ordinals: int) -> frozenset[str]:
    """Return the names of pods."""
    return frozenset(f"{name}-{each}" for each in ordinals)


def stays(plane: ControlPlane, name: str, number: int) -> None:
    """Say that a StatefulSet has and should have so many replicas for a while."""
    steadily(lambda: replicas(plane, name), lambda found: found == (number, number), for_s=CALM_S)


def stand(plane: ControlPlane, name: str, left: frozenset[str]) -> None:
    """Wait until these pods of an app are left, and see that they stay for a while."""
    path = f"{PODS}?labelSelector=app%3D{name}"
    eventually(lambda: standing(plane, path), lambda seen: seen == left)
    steadily(lambda: standing(plane, path), lambda seen: seen == left, for_s=2.0)


def ready(plane: ControlPlane, name: str, *, is_ready: bool) -> None:
    """Let a pod be ready, or not any more."""
    found = plane.ask("GET", f"{PODS}/{name}")
    conditions = [
        {**each, "status": str(is_ready)} if each["type"] == "Ready" else each
        for each in found["status"]["conditions"]
    ]
    status = {"status": {"conditions": conditions}}
    plane.ask("PATCH", f"{PODS}/{name}/status", status, content_type=MERGE)


def is_available(plane: ControlPlane, status: str) -> None:
    """Wait until the API server says so of the adapter; it is made to look each time it is asked."""

    def look() -> str:
        change = {"metadata": {"annotations": {"test/looked": str(time.monotonic_ns())}}}
        plane.ask("PATCH", REGISTRATION, change, content_type=MERGE)
        listed = plane.ask("GET", REGISTRATION)["status"]["conditions"]
        return str(next(each["status"] for each in listed if each["type"] == "Available"))

    eventually(look, lambda found: found == status)

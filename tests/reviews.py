"""Reviews of replicas, as an API server sends them."""

import json
from typing import Any, Final

GROUPS: Final = {
    "statefulsets": "apps",
    "deployments": "apps",
    "horizontalpodautoscalers": "autoscaling",
}


def review(
    resource: str,
    *,
    name: str,
    old: Any,
    new: Any,
    sub: str = "",
    user: str = "somebody",
    groups: tuple[str, ...] = ("system:authenticated",),
    operation: str = "UPDATE",
    namespace: str = "game",
) -> bytes:
    """Return a review of a change from one object to another one."""
    request = {
        "uid": "r1",
        "name": name,
        "namespace": namespace,
        "operation": operation,
        "resource": {"group": GROUPS.get(resource, ""), "version": "v1", "resource": resource},
        "subResource": sub,
        "userInfo": {"username": user, "groups": list(groups)},
        "object": new,
        "oldObject": old,
    }
    document = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request,
    }
    return json.dumps(document).encode()


def scaled(before: int, after: int, *, name: str = "chat", **more: Any) -> bytes:
    """Return a review of a scale; it leaves a zero out, as the API does."""
    given = {"resource": "statefulsets", "sub": "scale", **more}
    return review(name=name, old=_replicas(before), new=_replicas(after), **given)


def maximum(
    after: int,
    *,
    before: int | None = None,
    target: str = "chat",
    kind: str = "StatefulSet",
    version: str = "apps/v1",
    **more: Any,
) -> bytes:
    """Return a review of an autoscaler whose maximum is set."""
    old = None if before is None else _autoscaler(before, "chat", kind, version)
    new = _autoscaler(after, target, kind, version)
    operation = "CREATE" if before is None else "UPDATE"
    return review(
        "horizontalpodautoscalers", name="scaler", old=old, new=new, operation=operation, **more
    )


def _replicas(number: int) -> Any:
    return {"kind": "Scale", "spec": {"replicas": number} if number else {}}


def _autoscaler(most: int, target: str, kind: str, version: str) -> Any:
    reference = {"kind": kind, "name": target, "apiVersion": version}
    return {"spec": {"maxReplicas": most, "scaleTargetRef": reference, "minReplicas": None}}

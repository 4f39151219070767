"""Workloads that are nothing but a scale, and metrics that say what a test tells them to.

A crew is a custom resource: an autoscaler reads and writes its scale as that of any workload, and nobody
else touches it, so what it has and what it should have are as a row wants it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import msgspec

from tests.e2e.autoscaling import SCALERS
from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import PODS, a_pod
from tests.e2e.waiting import eventually
from tests.serving import Body, Reply
from tests.standin.hpa import AMBIGUOUS, Outcome, round_of, rounds_of
from tests.standin.hpa_behavior import DOWN, UP, Memory, Rules
from tests.standin.hpa_maths import Items
from tests.standin.hpa_rows import LOOSE, ROWS, Row, autoscaler_of

GROUP: Final = "test.springtide.io"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CREWS: Final = f"/apis/{GROUP}/v1/namespaces/default/crews"
MERGE: Final = "application/merge-patch+json"
METRICS: Final = ("e", "s")
UNSAID: Final = (UP, DOWN)
"""Rules as the API server fills them in; tests leave them out, so that it does."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a row: each number that was written, and what its autoscaler says of its metrics."""

    written: list[int]
    reason: str


def slug(name: str) -> str:
    """Return the name of a row as the API takes it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


BY_SLUG: Final = {slug(name): row for name, row in ROWS.items()}


def define(plane: ControlPlane) -> None:
    """Let there be crews."""
    columns = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
            "status": {
                "type": "object",
                "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}},
            },
        },
    }
    paths = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": columns},
        "subresources": {"status": {}, "scale": paths},
    }
    names = {"plural": "crews", "singular": "crew", "kind": "Crew", "listKind": "CrewList"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    plane.create(DEFINITIONS, {"metadata": {"name": f"crews.{GROUP}"}, "spec": spec})
    eventually(lambda: is_served(plane), bool, limit_s=30)


def is_served(plane: ControlPlane) -> bool:
    """Return whether crews can be listed."""
    try:
        return "items" in plane.ask("GET", CREWS)
    except HTTPError as fault:
        fault.close()
        return False


def answer(path: str, _request: Body) -> Reply | Body | list[Any]:
    """Answer what a row says of a metric: as another server of external metrics."""
    asked = urlsplit(path)
    selector = parse_qs(asked.query)["labelSelector"][0]
    row = BY_SLUG[selector.partition("=")[2]]
    items = row.answers[METRICS.index(asked.path.rpartition("/")[2])]
    if items is None:
        return Reply(status=503, body=b'{"kind":"Status","status":"Failure","code":503}')
    return _listed(items)


def _listed(items: Items) -> Body:
    listed = [
        {
            "metricName": "e",
            "metricLabels": {},
            "timestamp": "2026-01-02T03:04:05Z",
            "value": f"{each}m",
        }
        for each in items
    ]
    kind = {"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1"}
    return {**kind, "metadata": {}, "items": listed}


def create(plane: ControlPlane, name: str, row: Row) -> None:
    """Create the crew of a row, its ready pods, and its autoscaler."""
    scale = row.scale
    kind = {"apiVersion": f"{GROUP}/v1", "kind": "Crew", "metadata": {"name": name}}
    plane.create(CREWS, {**kind, "spec": {"replicas": scale.wanted}})
    status = {"replicas": scale.there, "selector": f"app={name}"}
    plane.ask("PATCH", f"{CREWS}/{name}/status", {"status": status}, content_type=MERGE)
    for number in range(scale.ready):
        ready_pod(plane, f"{name}-{number}", app=name)
    plane.create(SCALERS, autoscaler(name, row))


def ready_pod(plane: ControlPlane, name: str, *, app: str) -> None:
    """Create a pod that nobody runs and that is ready all the same."""
    body = a_pod(name, schedulerName="nobody")
    body["metadata"]["labels"] = {"app": app}
    plane.create(PODS, body)
    ready = {"type": "Ready", "status": "True"}
    status = {"phase": "Running", "conditions": [ready]}
    plane.ask("PATCH", f"{PODS}/{name}/status", {"status": status}, content_type=MERGE)


def autoscaler(name: str, row: Row) -> Object:
    """Return the autoscaler of a row."""
    selector = {"matchLabels": {"row": name}}
    key = "averageValue" if row.kind == "AverageValue" else "value"
    behavior = {
        direction: _rules(rules, row)
        for direction, rules in (("scaleUp", row.behavior.up), ("scaleDown", row.behavior.down))
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": f"{GROUP}/v1", "kind": "Crew", "name": name},
            "minReplicas": row.bounds.least,
            "maxReplicas": row.bounds.most,
            "metrics": [
                {
                    "type": "External",
                    "external": {
                        "metric": {"name": metric, "selector": selector},
                        "target": {"type": row.kind, key: "1"},
                    },
                }
                for metric, _ in zip(METRICS, row.answers, strict=False)
            ],
            "behavior": behavior,
        },
    }


def _rules(rules: Rules, row: Row) -> Object:
    tolerance = {} if row.tolerance == LOOSE else {"tolerance": "0"}
    if rules in UNSAID:
        return tolerance
    return {
        **tolerance,
        "stabilizationWindowSeconds": int(rules.window_s),
        "selectPolicy": rules.select,
        "policies": [
            {"type": each.kind, "value": each.value, "periodSeconds": int(each.period_s)}
            for each in rules.policies
        ],
    }


class Recorder:
    """Keeps each number that is written to crews, as it looks at them."""

    def __init__(self, plane: ControlPlane, rows: Mapping[str, Row]) -> None:
        self._plane = plane
        self._written = {name: [row.scale.wanted] for name, row in rows.items()}

    def look(self) -> dict[str, Shown]:
        """Return what has become of all rows so far."""
        for each in self._plane.ask("GET", CREWS)["items"]:
            written = self._written[each["metadata"]["name"]]
            if each["spec"]["replicas"] != written[-1]:
                written.append(each["spec"]["replicas"])
        reasons = {
            each["metadata"]["name"]: active_reason(each)
            for each in self._plane.ask("GET", SCALERS)["items"]
        }
        return {
            name: Shown(written=list(written), reason=reasons[name])
            for name, written in self._written.items()
        }


def active_reason(scaler: Object) -> str:
    """Return the reason of the condition ScalingActive, empty if there is none yet."""
    listed: Sequence[Object] = scaler.get("status", {}).get("conditions", [])
    found = [each["reason"] for each in listed if each["type"] == "ScalingActive"]
    return found[0] if found else ""


def simulated(row: Row) -> Shown:
    """Return what becomes of a row where the stand-in decides, and what it says in the end."""
    autoscaler = autoscaler_of(row)
    written = rounds_of(autoscaler, row.scale, row.answers)
    scale = msgspec.structs.replace(row.scale, wanted=written[-1])
    last: Outcome = round_of(autoscaler, Memory(), scale=scale, answers=row.answers, now_s=0.0)[1]
    assert last.reason != AMBIGUOUS
    return Shown(written=written, reason=last.reason)

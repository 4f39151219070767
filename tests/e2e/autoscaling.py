"""Native autoscalers on a real control plane: our adapter behind its API server, and workloads that they scale.

The adapter runs beside the cluster, which reaches it by a Service of an external name. What it asks for
samples is a stand-in whose samples never grow old.
"""

import base64
import json
import signal
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import msgspec
import trustme

from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.ours import free_port
from tests.e2e.waiting import eventually
from tests.promapi import PromApi

E: Final = "hpa_expect_replicas"
S: Final = "hpa_stateful_index"
RECORDED: Final = "hpa_recorded_index"
"""The same as the second, with what is written down."""
PLAIN: Final = "rooms_waiting"
"""A metric that is not rounded."""
NAME: Final = "springtide-replicas-adapter"
ACCOUNT: Final = {"adapter": f"adapter-token,system:serviceaccount:kube-system:{NAME},7"}
DEPLOY: Final = Path(__file__).parents[2] / "deploy"
SERVICES: Final = "/api/v1/namespaces/kube-system/services"
APISERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
SETS: Final = "/apis/apps/v1/namespaces/default/statefulsets"
SCALERS: Final = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
ROOT: Final = "/apis/external.metrics.k8s.io/v1beta1"
FAST: Final = (
    "--horizontal-pod-autoscaler-sync-period=1s",
    "--horizontal-pod-autoscaler-downscale-stabilization=1s",
)


class Ours(msgspec.Struct, frozen=True, kw_only=True):
    """One of our programs beside a control plane, and its ports."""

    plane: ControlPlane
    name: str
    port: int
    pages: int

    def kill(self) -> None:
        """End it as a machine without power would."""
        self.plane.processes.stop(self.name, how=signal.SIGKILL)

    def again(self) -> None:
        """Start it again."""
        self.plane.processes.again(self.name)
        self.wait()

    def told(self, event: str) -> int:
        """Return how often it has logged an event."""
        return self.plane.processes.log(self.name).read_text().count(f'"event":"{event}"')

    def wait(self) -> None:
        """Wait until it serves."""
        self.plane.processes.wait_until(
            lambda: self.told("serving") > self.told("stopped") and _answers(self.pages),
            "serving",
            name=self.name,
            limit_s=60.0,
        )


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def serve(plane: ControlPlane, name: str, document: Object) -> Ours:
    """Start `springtide replicas NAME` with a certificate for its Service, and wait until it serves."""
    found = Ours(plane=plane, name=name, port=free_port(), pages=free_port())
    certify(plane, name, plane.authority)
    whole = {
        "apiVersion": "springtide.io/v1alpha1",
        "bindAddress": f"127.0.0.1:{found.port}",
        "metricsBindAddress": f"127.0.0.1:{found.pages}",
        "shutdownDelay": "0s",
        "tls": {
            "certFile": str(plane.site.file(f"{name}.pem")),
            "keyFile": str(plane.site.file(f"{name}.key")),
        },
        **document,
    }
    file = plane.site.file(f"{name}-configuration.json")
    file.write_text(json.dumps(whole), encoding="utf-8")
    options = [f"--config={file}", f"--kubeconfig={plane.kubeconfig(name)}"]
    command = [sys.executable, "-m", "springtide", "replicas", name, *options]
    plane.processes.start(name, command)
    found.wait()
    return found


def certify(plane: ControlPlane, name: str, authority: trustme.CA) -> None:
    """Write a certificate of an authority for one of them."""
    pair = authority.issue_cert("127.0.0.1", f"springtide-replicas-{name}.kube-system.svc")
    pair.private_key_pem.write_to_path(str(plane.site.file(f"{name}.key")))
    pair.cert_chain_pems[0].write_to_path(str(plane.site.file(f"{name}.pem")))


def adapter(plane: ControlPlane, api: PromApi, *, upstream: str = "") -> Ours:
    """Start an adapter that asks often, and passes other metrics through if there is an upstream."""
    index = {"name": S, "role": "index", "refresh": "200ms", "hold": "1s"}
    document: Object = {
        "kind": "ReplicasAdapterConfiguration",
        "prometheus": {"url": api.url},
        "metrics": [
            {"name": E, "role": "expected", "refresh": "200ms", "hold": "1s"},
            index,
            {**index, "name": RECORDED, "series": [S], "coverage": "records"},
            {"name": PLAIN, "role": "plain", "refresh": "200ms", "hold": "1s"},
        ],
    }
    if upstream:
        document["upstream"] = {"url": upstream}
    return serve(plane, "adapter", document)


def register(plane: ControlPlane, port: int) -> None:
    """Register the adapter, and wait until the API server has found it."""
    spec = {"type": "ExternalName", "externalName": "localhost"}
    plane.create(SERVICES, {"metadata": {"name": NAME}, "spec": spec})
    reference: Object = {"name": NAME, "namespace": "kube-system", "port": port}
    registration: Object = {
        "group": "external.metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "caBundle": base64.b64encode(plane.ca_pem).decode(),
        "service": reference,
    }
    name = "v1beta1.external.metrics.k8s.io"
    plane.create(APISERVICES, {"metadata": {"name": name}, "spec": registration})
    eventually(
        lambda: plane.ask("GET", f"{APISERVICES}/{name}").get("status", {}).get("conditions", []),
        lambda found: any(
            each["type"] == "Available" and each["status"] == "True" for each in found
        ),
    )


def value(plane: ControlPlane, metric: str, target: str) -> str:
    """Return what the API server says of a metric, the code of a refusal."""
    path = f"{ROOT}/namespaces/default/{metric}?labelSelector=hpa_target_name%3D{target}"
    try:
        (item,) = plane.ask("GET", path)["items"]
    except HTTPError as fault:
        fault.close()
        return str(fault.code)
    return str(item["value"])


def export(api: PromApi, target: str, expected: int | None, indices: Sequence[int] = ()) -> None:
    """Let the members of a workload say how many there should be, and which of them hold state."""
    before = [each for each in api.samples if each.labels["hpa_target_name"] != target]
    after = PromApi()
    place = {"target": target, "namespace": "default"}
    # In the future, so that they stay new as long as the test.
    if expected is not None:
        after.put_member(E, expected, member=f"{target}-0", age_s=-3600, **place)
    for ordinal, index in enumerate(indices):
        after.put_member(S, index, member=f"{target}-{ordinal}", age_s=-3600, **place)
    # At once: a query sees the one or the other.
    api.samples = [*before, *after.samples]


def stateful_set(name: str, replicas: int) -> Object:
    """Return a StatefulSet whose pods ask for next to nothing."""
    labels = {"app": name}
    container = {"name": "main", "image": "registry.invalid/work:1"}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
            },
        },
    }


def scaler(name: str, *metrics: str) -> Object:
    """Return an autoscaler that goes by absolute numbers, exactly and at once."""
    selector = {"matchLabels": {"hpa_target_name": name}}
    target = {"type": "AverageValue", "averageValue": "1"}
    rule = {
        "tolerance": "0",
        "stabilizationWindowSeconds": 0,
        "policies": [{"type": "Pods", "value": 100, "periodSeconds": 1}],
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name},
            "minReplicas": 1,
            "maxReplicas": 50,
            "metrics": [
                {
                    "type": "External",
                    "external": {"metric": {"name": each, "selector": selector}, "target": target},
                }
                for each in metrics
            ],
            "behavior": {"scaleUp": rule, "scaleDown": rule},
        },
    }


def replicas(plane: ControlPlane, name: str) -> tuple[int, int]:
    """Return how many replicas a StatefulSet should have, and has."""
    found = plane.ask("GET", f"{SETS}/{name}")
    return found["spec"]["replicas"], found["status"].get("replicas", 0)


def settles(plane: ControlPlane, name: str, number: int) -> None:
    """Wait until a StatefulSet should have, and has, so many replicas."""
    eventually(lambda: replicas(plane, name), lambda found: found == (number, number), limit_s=120)


def condition(plane: ControlPlane, name: str) -> Any:
    """Return what an autoscaler says of its metrics."""
    listed = plane.ask("GET", f"{SCALERS}/{name}").get("status", {}).get("conditions", [])
    return next((each for each in listed if each["type"] == "ScalingActive"), {})

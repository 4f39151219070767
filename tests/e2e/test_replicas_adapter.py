"""Our adapter behind a real API server: the aggregator asks it, and a native autoscaler scales by its answers.

Pods are of stand-in kubelets. The cluster reaches the adapter by a Service of an external name.
"""

import base64
import json
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.ours import free_port
from tests.e2e.rights import grant
from tests.e2e.waiting import eventually
from tests.promapi import PromApi, Reply, prometheus
from tests.standin.live import gpu_node

E: Final = "hpa_expect_replicas"
S: Final = "hpa_stateful_index"
NAME: Final = "springtide-replicas-adapter"
ACCOUNT: Final = {"adapter": f"adapter-token,system:serviceaccount:kube-system:{NAME},7"}
DEPLOY: Final = Path(__file__).parents[2] / "deploy" / "replicas-adapter"
SERVICES: Final = "/api/v1/namespaces/kube-system/services"
APISERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
SETS: Final = "/apis/apps/v1/namespaces/default/statefulsets"
SCALERS: Final = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
ROOT: Final = "/apis/external.metrics.k8s.io/v1beta1"
FAST: Final = (
    "--horizontal-pod-autoscaler-sync-period=1s",
    "--horizontal-pod-autoscaler-downscale-stabilization=1s",
)
NUMBERS: Final = (*range(1, 41), 39, 21, 20, 12, 11, 10, 9, 1)
DENIED: Final = 403
DOWN: Final = Reply(status=503, body=b'{"status":"error","errorType":"unavailable","error":"down"}')

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def api() -> Iterator[PromApi]:
    """What the adapter asks for samples."""
    with prometheus() as found:
        yield found


@pytest.fixture(scope="module")
def plane(planes: Planes, api: PromApi) -> Iterator[ControlPlane]:
    """A control plane with the adapter behind it, and nodes for pods."""
    found = planes(Setup(has_controllers=True, users=ACCOUNT, controller_flags=FAST))
    grant(found, DEPLOY / "rbac.yaml")
    port = start(found, api)
    register(found, port)
    with running_fleet(found, [gpu_node("a"), gpu_node("b")]):
        yield found


def start(plane: ControlPlane, api: PromApi) -> int:
    """Start the adapter, and return its port."""
    port, pages = free_port(), free_port()
    pair = plane.authority.issue_cert("127.0.0.1", f"{NAME}.kube-system.svc")
    pair.cert_chain_pems[0].write_to_path(str(plane.site.file("adapter.pem")))
    pair.private_key_pem.write_to_path(str(plane.site.file("adapter.key")))
    document = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ReplicasAdapterConfiguration",
        "bindAddress": f"127.0.0.1:{port}",
        "metricsBindAddress": f"127.0.0.1:{pages}",
        "shutdownDelay": "0s",
        "tls": {
            "certFile": str(plane.site.file("adapter.pem")),
            "keyFile": str(plane.site.file("adapter.key")),
        },
        "prometheus": {"url": api.url},
        "metrics": [
            {"name": E, "role": "expected", "refresh": "200ms", "hold": "1s"},
            {"name": S, "role": "index", "refresh": "200ms", "hold": "1s"},
        ],
    }
    file = plane.site.file("adapter-configuration.json")
    file.write_text(json.dumps(document), encoding="utf-8")
    options = [f"--config={file}", f"--kubeconfig={plane.kubeconfig('adapter')}"]
    plane.processes.start(
        "adapter", [sys.executable, "-m", "springtide", "replicas", "adapter", *options]
    )
    plane.processes.wait_until(
        lambda: '"event":"serving"' in plane.processes.log("adapter").read_text(),
        "serving",
        name="adapter",
        limit_s=60.0,
    )
    return port


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


def export(api: PromApi, target: str, expected: int, indices: Sequence[int] = ()) -> None:
    """Let the members of a workload say how many there should be, and which of them hold state."""
    before = [each for each in api.samples if each.labels["hpa_target_name"] != target]
    after = PromApi()
    place = {"target": target, "namespace": "default"}
    # In the future, so that they stay new as long as the test.
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


def test_the_api_server_finds_and_asks_it(plane: ControlPlane, api: PromApi) -> None:
    """Covers R-3 in part, R-44 in part, M-6, M-17."""
    export(api, "raw", 12)

    listed = plane.ask("GET", ROOT)

    assert [each["name"] for each in listed["resources"]] == [E, S]
    assert eventually(lambda: value(plane, E, "raw"), lambda found: found == "12") == "12"
    assert value(plane, E, "other") == "404"
    path = "apis/external.metrics.k8s.io/v1beta1"
    eventually(lambda: list(plane.ask("GET", "/openapi/v3")["paths"]), lambda found: path in found)
    assert plane.ask("GET", f"/openapi/v3/{path}")["info"]["title"] == "springtide replicas adapter"


def test_who_has_no_right_is_refused_by_the_adapter_itself(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers M-15."""
    export(api, "raw", 12)
    request = urllib.request.Request(
        f"{plane.url}{ROOT}/namespaces/default/{E}?labelSelector=hpa_target_name%3Draw",
        headers={"Authorization": "Bearer nobody-token"},
    )

    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(request, context=plane.trust)

    refused.value.close()
    assert refused.value.code == DENIED


def test_a_native_autoscaler_scales_to_exactly_the_number_asked_for(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers R-3 in part, R-40 in part, R-44 in part, H-1."""
    export(api, "chat", 3)
    plane.create(SETS, stateful_set("chat", 3))
    plane.create(SCALERS, scaler("chat", E))

    for number in NUMBERS:
        export(api, "chat", number)
        settles(plane, "chat", number)

    assert condition(plane, "chat")["status"] == "True"
    plane.ask("DELETE", f"{SCALERS}/chat")
    plane.ask("DELETE", f"{SETS}/chat")


def test_it_holds_while_the_adapter_has_no_answer_and_goes_on_after_that(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers R-46 in part, R-50 in part, F-20."""
    export(api, "lobby", 6)
    plane.create(SETS, stateful_set("lobby", 6))
    plane.create(SCALERS, scaler("lobby", E))
    eventually(lambda: condition(plane, "lobby").get("status"), lambda found: found == "True")

    api.fails_with = DOWN
    eventually(lambda: value(plane, E, "lobby"), lambda found: found == "503")
    export(api, "lobby", 2)
    failed = eventually(
        lambda: condition(plane, "lobby").get("reason"), lambda found: found != "ValidMetricFound"
    )
    held = replicas(plane, "lobby")
    api.fails_with = None

    assert failed == "FailedGetExternalMetric"
    assert held == (6, 6)
    eventually(lambda: replicas(plane, "lobby")[0], lambda found: found == 2)
    plane.ask("DELETE", f"{SCALERS}/lobby")
    plane.ask("DELETE", f"{SETS}/lobby")


def test_replicas_that_hold_state_stay_until_they_are_drained(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers R-31, R-36, R-39, H-8, K-1, M-3."""
    indices = list(range(1, 13))
    export(api, "rooms", 12, indices)
    plane.create(SETS, stateful_set("rooms", 12))
    plane.create(SCALERS, scaler("rooms", E, S))
    eventually(lambda: condition(plane, "rooms").get("status"), lambda found: found == "True")

    for drained in (0, 1, 2):
        kept = 12 - drained
        export(api, "rooms", 10, [*indices[:kept], *[0] * drained])
        settles(plane, "rooms", kept)

    assert (value(plane, E, "rooms"), value(plane, S, "rooms")) == ("10", "10")
    plane.ask("DELETE", f"{SCALERS}/rooms")
    plane.ask("DELETE", f"{SETS}/rooms")

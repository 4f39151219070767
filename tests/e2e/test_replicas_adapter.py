"""Our adapter behind a real API server: the aggregator asks it, and a native autoscaler scales by its answers.

Pods are of stand-in kubelets. The cluster reaches the adapter by a Service of an external name.
"""

import urllib.request
from collections.abc import Iterator
from typing import Final
from urllib.error import HTTPError

import pytest

from tests.e2e.autoscaling import (
    ACCOUNT,
    DEPLOY,
    FAST,
    PLAIN,
    RECORDED,
    ROOT,
    SCALERS,
    SETS,
    E,
    S,
    adapter,
    condition,
    export,
    register,
    replicas,
    scaler,
    settles,
    stateful_set,
    value,
)
from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.rights import grant
from tests.e2e.waiting import eventually
from tests.promapi import PromApi, Reply, prometheus
from tests.standin.live import gpu_node

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
    grant(found, DEPLOY / "replicas-adapter" / "rbac.yaml")
    register(found, adapter(found, api).port)
    with running_fleet(found, [gpu_node("a"), gpu_node("b")]):
        yield found


def test_the_api_server_finds_and_asks_it(plane: ControlPlane, api: PromApi) -> None:
    """Covers R-3 in part, R-44 in part, M-6, M-17."""
    export(api, "raw", 12)

    listed = plane.ask("GET", ROOT)

    assert [each["name"] for each in listed["resources"]] == [E, S, RECORDED, PLAIN]
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

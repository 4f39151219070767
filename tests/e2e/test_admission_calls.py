"""What the API server asks others in the middle of a request: webhooks over TLS, and APIs behind it.

The bodies of admission reviews are recorded as those of extenders are, in both versions.
"""

import base64
import json
import ssl
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import PODS, a_pod
from tests.e2e.recording import is_as_recorded
from tests.e2e.waiting import eventually
from tests.serving import Body, Extender, serving

HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
GROUP = "external.metrics.k8s.io"
VERSIONS = ("v1", "v1beta1")
ADDED = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhL2xhYmVscyIsInZhbHVlIjp7InNlZW4iOiJ5ZXMifX1d"
"""A patch that adds the label `seen`."""

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A server without scheduler and controllers."""
    return planes(Setup())


def server_side(plane: ControlPlane, *names: str) -> Any:
    """Return what serves TLS under these names."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    plane.authority.issue_cert(*names).configure_cert(context)
    return context


def admitted(path: str, said: Body) -> Body:
    review = {"uid": said["request"]["uid"], "allowed": True}
    patch = {"patchType": "JSONPatch", "patch": ADDED}
    return {**{key: said[key] for key in ("apiVersion", "kind")}, "response": review | patch}


@contextmanager
def hooked(plane: ControlPlane, version: str) -> Iterator[Extender]:
    """Ask a webhook that speaks this version about new pods, as HAMi's chart does."""
    with serving(admitted, tls=server_side(plane, "127.0.0.1")) as hook:
        plane.create(HOOKS, configuration(plane, f"{hook.url}/webhook", version))
        try:
            yield hook
        finally:
            plane.ask("DELETE", f"{HOOKS}/{version}")


def configuration(plane: ControlPlane, url: str, version: str) -> Object:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    hook = {
        "name": "vgpu.hami.io",
        "admissionReviewVersions": [version],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "clientConfig": {"url": url, "caBundle": base64.b64encode(plane.ca_pem).decode()},
        "rules": [rule],
    }
    return {"metadata": {"name": version}, "webhooks": [hook]}


@pytest.mark.parametrize("version", VERSIONS)
def test_reviews_are_as_recorded_and_their_patches_are_applied(
    version: str, plane: ControlPlane
) -> None:
    pod = a_pod("asking", limits=({}, {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000"}))
    with hooked(plane, version) as hook:
        made = eventually(
            lambda: plane.create(f"{PODS}?dryRun=All", pod),
            lambda found: "seen" in found["metadata"].get("labels", {}),
        )
        path, body = hook.bodies[-1]

    said = json.loads(body)
    assert made["metadata"]["labels"] == {"seen": "yes"}
    assert path == "/webhook?timeout=10s"
    assert said["apiVersion"] == f"admission.k8s.io/{version}"
    assert said["request"]["object"]["metadata"]["name"] == "asking"
    is_as_recorded(body, f"review-{version}")


def test_an_api_behind_the_front_proxy_is_told_who_asks(plane: ControlPlane) -> None:
    plane.create("/api/v1/namespaces", {"metadata": {"name": "behind"}})
    listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/v1beta1"}
    context = server_side(plane, "metrics.behind.svc", "localhost")
    context.load_verify_locations(plane.site.file("front-ca.pem"))
    context.verify_mode = ssl.CERT_REQUIRED

    with serving(lambda path, said: {**listed, "resources": []}, tls=context) as api:
        register(plane, api)
        found = eventually(lambda: asked_for(plane, f"/apis/{GROUP}/v1beta1/anything"), bool)

    assert found["kind"] == "APIResourceList"
    # The server itself asks, too, to see what is there.
    assert "admin" in {each.get("X-Remote-User") for each in api.headers}


def register(plane: ControlPlane, api: Extender) -> None:
    """Put a server behind the API, found by an external name: nothing routes to services here."""
    port = {"port": api.port, "name": "https"}
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": [port]}
    plane.create(
        "/api/v1/namespaces/behind/services", {"metadata": {"name": "metrics"}, "spec": spec}
    )
    service = {
        "group": GROUP,
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"name": "metrics", "namespace": "behind", "port": api.port},
        "caBundle": base64.b64encode(plane.ca_pem).decode(),
    }
    plane.create(
        "/apis/apiregistration.k8s.io/v1/apiservices",
        {"metadata": {"name": f"v1beta1.{GROUP}"}, "spec": service},
    )


def asked_for(plane: ControlPlane, path: str) -> Any:
    """Return an answer, None as long as the API is not there."""
    try:
        return plane.ask("GET", path)
    except urllib.error.HTTPError:
        return None

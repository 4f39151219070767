"""Our webhook, registered as `deploy/` has it, over TLS and asked by the API server about every new pod."""

import base64
import json
import urllib.error
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import trustme

from springtide.wire import yaml
from tests.e2e.chokepoint import Chokepoint, Rule, chokepoint
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import PODS, a_pod
from tests.e2e.replicas import Replica, replica
from tests.e2e.rights import ACCOUNT, grant
from tests.e2e.waiting import eventually

MANIFEST: Final = Path(__file__).parents[2] / "deploy" / "extender" / "webhook.yaml"
HOOKS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SCHEDULER: Final = "hami-scheduler"
FOREIGN: Final = "default-scheduler"

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A server without scheduler and controllers."""
    plane = planes(Setup(users=ACCOUNT))
    grant(plane)
    return plane


@pytest.fixture(scope="module")
def ours(plane: ControlPlane) -> Iterator[Replica]:
    """Our extender, with a certificate of the authority that everybody trusts."""
    with replica(plane, document=with_certificate(plane, "ours", plane.authority)) as found:
        yield found


@pytest.fixture(scope="module")
def narrow(plane: ControlPlane, ours: Replica) -> Iterator[Chokepoint]:
    """What the API server reaches it through."""
    with chokepoint(plane, before=ours.port) as found:
        yield found


def with_certificate(plane: ControlPlane, name: str, authority: trustme.CA) -> Object:
    """Write a certificate of an authority and its key, and return a configuration that names them."""
    pair = authority.issue_cert("127.0.0.1")
    files = {"certFile": plane.site.file(f"{name}.pem"), "keyFile": plane.site.file(f"{name}.key")}
    pair.cert_chain_pems[0].write_to_path(str(files["certFile"]))
    pair.private_key_pem.write_to_path(str(files["keyFile"]))
    tls = {key: str(path) for key, path in files.items()}
    return {"schedulerName": SCHEDULER, "tls": tls}


@contextmanager
def registered(
    plane: ControlPlane, port: int, *, policy: str = "Fail", authority: trustme.CA | None = None
) -> Iterator[None]:
    """Have the webhook on a port asked as long as the block."""
    (document,) = yaml.documents(MANIFEST.read_bytes(), str(MANIFEST))
    body: Any = json.loads(json.dumps(document.value))
    (hook,) = body["webhooks"]
    path = hook["clientConfig"]["service"]["path"]
    bundle = (authority or plane.authority).cert_pem.bytes()
    hook["failurePolicy"] = policy
    hook["clientConfig"] = {
        "url": f"https://127.0.0.1:{port}{path}",
        "caBundle": base64.b64encode(bundle).decode(),
    }
    plane.create(HOOKS, body)
    try:
        yield
    finally:
        plane.ask("DELETE", f"{HOOKS}/{body['metadata']['name']}")
        eventually(lambda: tried(plane, "ended"), lambda found: found == FOREIGN)


def asking(name: str, **fields: Any) -> Object:
    """Return a pod that asks for memory of a card, and says nothing of the card."""
    return a_pod(name, limits=({}, {"nvidia.com/gpumem": "3072"}), **fields)


def tried(plane: ControlPlane, name: str) -> str:
    """Return whose a pod would be that asks for a card, or why it would be refused."""
    try:
        made = plane.create(f"{PODS}?dryRun=All", asking(name))
    except urllib.error.HTTPError as fault:
        return fault.read().decode()
    return str(made["spec"]["schedulerName"])


def asked(plane: ControlPlane) -> None:
    """Wait until the webhook is asked, and answers."""
    eventually(lambda: tried(plane, "probe"), lambda found: found == SCHEDULER, limit_s=30)


def refusal(plane: ControlPlane, pod: Object) -> tuple[int, str]:
    """Return with which code and message a pod is refused."""
    with pytest.raises(urllib.error.HTTPError) as raised:
        plane.create(PODS, pod)
    status = json.loads(raised.value.read())
    return raised.value.code, status["message"]


def test_pods_that_ask_for_devices_are_made_ours_and_others_are_left(
    plane: ControlPlane, ours: Replica
) -> None:
    with registered(plane, ours.port):
        asked(plane)

        made = plane.create(PODS, asking("ours"))
        other = plane.create(PODS, a_pod("other"))

    amounts = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3072"}
    resources = made["spec"]["containers"][1]["resources"]
    assert made["spec"]["schedulerName"] == SCHEDULER
    assert resources["limits"] == amounts
    assert resources["requests"].items() >= amounts.items()
    assert other["spec"]["schedulerName"] == FOREIGN
    assert other["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "10m"}}


def test_a_pod_that_is_refused_is_told_why(plane: ControlPlane, ours: Replica) -> None:
    privileged = asking("privileged")
    privileged["spec"]["containers"][1]["securityContext"] = {"privileged": True}
    forged = asking("forged")
    forged["metadata"]["annotations"] = {"hami.io/vgpu-node": "gpu-1"}

    with registered(plane, ours.port):
        asked(plane)
        found = [refusal(plane, each) for each in (privileged, forged)]

    denied = 'admission webhook "vgpu.hami.io" denied the request: '
    is_ours = (
        "annotation hami.io/vgpu-node is written by the scheduler alone: remove it from the pod"
    )
    assert found == [
        (403, f"{denied}container c1 is privileged"),
        (403, f"{denied}{is_ours}"),
    ]


@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
def test_a_pod_in_review_while_we_are_killed_is_stored_as_it_was_or_not_at_all(
    policy: str, plane: ControlPlane, ours: Replica, narrow: Chokepoint
) -> None:
    name = f"torn-{policy.lower()}"
    with registered(plane, narrow.port, policy=policy), ThreadPoolExecutor(1) as beside:
        asked(plane)
        held = narrow.hold(Rule(method="POST", path="/webhook", says=name))
        ours.freeze()
        creating = beside.submit(plane.create, PODS, asking(name))
        held.wait()
        held.go()
        ours.kill()
        fault = creating.exception()
        found = plane.ask("GET", PODS)["items"]
        ours.start()
        asked(plane)

    stored = [each for each in found if each["metadata"]["name"] == name]
    if policy == "Fail":
        assert isinstance(fault, urllib.error.HTTPError)
        assert fault.code == 500
        assert stored == []
    else:
        assert fault is None
        (pod,) = stored
        assert pod["spec"]["schedulerName"] == FOREIGN
        assert pod["spec"]["containers"][1]["resources"]["limits"] == {"nvidia.com/gpumem": "3072"}


def test_a_certificate_that_is_renewed_is_shown_without_a_restart(plane: ControlPlane) -> None:
    authority = trustme.CA()
    document = with_certificate(plane, "renewed", plane.authority)
    with (
        replica(plane, "renewing", document) as renewing,
        registered(plane, renewing.port, authority=authority),
    ):
        eventually(lambda: tried(plane, "old"), lambda found: "x509" in found)

        with_certificate(plane, "renewed", authority)

        asked(plane)
        assert len(renewing.told("certificate_renewed")) == 1

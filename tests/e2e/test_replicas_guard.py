"""Our guard, registered as `deploy/` has it: what a real API server lets through, and what kubectl says otherwise."""

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.error import HTTPError

import pytest
import trustme

from springtide.wire import yaml
from tests.e2e.autoscaling import (
    DEPLOY,
    SCALERS,
    SETS,
    E,
    Ours,
    certify,
    export,
    scaler,
    serve,
    stateful_set,
)
from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.rights import ROOT, grant
from tests.e2e.waiting import eventually
from tests.guarding import MARK
from tests.promapi import PromApi, Reply, prometheus
from tools import kubectl as fetching

HOOKS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
ACCOUNT: Final = "system:serviceaccount:kube-system"
USERS: Final = {
    "guard": f"guard-token,{ACCOUNT}:springtide-replicas-guard,8",
    "autoscaler": f"autoscaler-token,{ACCOUNT}:horizontal-pod-autoscaler,9",
    "operator": "operator-token,operator,10",
}
DOWN: Final = Reply(status=503, body=b'{"status":"error","errorType":"unavailable","error":"down"}')
INDICES: Final = list(range(1, 13))

pytestmark = pytest.mark.timeout(180)

Kubectl = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def api() -> Iterator[PromApi]:
    """What the guard asks for samples."""
    with prometheus() as found:
        yield found


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A server without controllers, whose users may change what they like in one namespace."""
    found = planes(Setup(users=USERS))
    grant(found, DEPLOY / "replicas-guard" / "rbac.yaml")
    people = [
        {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
        for name in ("nobody", "operator", f"{ACCOUNT}:horizontal-pod-autoscaler")
    ]
    role = {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}
    body = {"metadata": {"name": "people"}, "roleRef": role, "subjects": people}
    found.create(f"{ROOT}/namespaces/default/rolebindings", body)
    for name, marks in (("chat", {MARK: "true"}), ("plain", {})):
        workload = stateful_set(name, 12)
        workload["metadata"]["annotations"] = marks
        found.create(SETS, workload)
    return found


@pytest.fixture(scope="module")
def guard(plane: ControlPlane, api: PromApi) -> Ours:
    """A guard that is registered, and asked."""
    export(api, "chat", 12, INDICES)
    document = {
        "kind": "ReplicasGuardConfiguration",
        "prometheus": {"url": api.url},
        "exempt": {"users": ["operator"], "groups": []},
        "index": {"name": "hpa_stateful_index", "role": "index", "refresh": "100ms", "hold": "1s"},
    }
    found = serve(plane, "guard", document)
    plane.create(HOOKS, registration(plane, found.port))
    eventually(lambda: _tried(plane), lambda code: code == "HoldsState", limit_s=30)
    return found


@pytest.fixture(scope="module")
def kubectl(plane: ControlPlane, guard: Ours) -> Kubectl:
    """What calls a real kubectl as somebody."""
    path = fetching.found()
    if path is None:
        pytest.skip(fetching.MISSING)

    def call(user: str, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [str(path), f"--kubeconfig={plane.kubeconfig(user)}", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return call


def registration(plane: ControlPlane, port: int, authority: trustme.CA | None = None) -> Any:
    """Return the webhooks of `deploy/`, on this machine."""
    path = DEPLOY / "replicas-guard" / "webhook.yaml"
    (document,) = yaml.documents(path.read_bytes(), str(path))
    body: Any = json.loads(json.dumps(document.value))
    bundle = (authority or plane.authority).cert_pem.bytes()
    for hook in body["webhooks"]:
        where = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {
            "url": f"https://127.0.0.1:{port}{where}",
            "caBundle": base64.b64encode(bundle).decode(),
        }
        # In tests nothing may be let pass by mistake.
        hook["failurePolicy"] = "Fail"
    return body


def _tried(plane: ControlPlane) -> str:
    """Return why the administrator could not scale away what holds state, which nobody is exempt from here."""
    said = refusal(plane, "PATCH", f"{SETS}/chat/scale?dryRun=All", {"spec": {"replicas": 1}})
    return said.partition(": ")[2].partition(":")[0]


def refusal(plane: ControlPlane, method: str, path: str, body: Any) -> str:
    """Return with which words a change is refused, empty if it is not."""
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    try:
        plane.ask(method, path, body, content_type=kind)
    except HTTPError as fault:
        return str(json.loads(fault.read())["message"])
    return ""


def test_kubectl_is_told_what_to_wait_for(kubectl: Kubectl) -> None:
    """Covers R-57."""
    refused = kubectl("nobody", "scale", "statefulset/chat", "--replicas=8")
    edited = kubectl("nobody", "patch", "statefulset/chat", "-p", '{"spec":{"replicas":11}}')
    raised = kubectl("nobody", "scale", "statefulset/chat", "--replicas=13", "--dry-run=server")
    other = kubectl("nobody", "scale", "statefulset/plain", "--replicas=8")

    assert refused.returncode == 1
    assert (
        'admission webhook "replicas.guard.springtide.io" denied the request: HoldsState: StatefulSet '
        "default/chat cannot be scaled to 8: replica 12 still holds state, and fewer replicas would delete it. "
        "Wait until 9 to 12 are drained; if nothing of what they held is left to save, release their "
        "protection with `springtide replicas release-protection 12`, or let a user change it who is exempt in the configuration "
        "of the guard."
    ) in refused.stderr
    assert "Wait until it is drained" in edited.stderr
    assert (raised.returncode, raised.stderr) == (0, "")
    assert (other.returncode, other.stderr) == (0, "")


def test_who_is_exempt_may_and_the_controller_of_autoscalers_is_not(kubectl: Kubectl) -> None:
    words = ("scale", "statefulset/chat", "--replicas=8", "--dry-run=server")

    assert kubectl("operator", *words).returncode == 0
    assert "HoldsState" in kubectl("autoscaler", *words).stderr


def test_h_12_a_maximum_below_what_holds_state_is_refused(
    plane: ControlPlane, kubectl: Kubectl
) -> None:
    """Covers R-57."""
    body = scaler("chat", E)
    plane.create(SCALERS, body)

    lowered = kubectl("nobody", "patch", "hpa/chat", "-p", '{"spec":{"maxReplicas":8}}')
    enough = kubectl("nobody", "patch", "hpa/chat", "-p", '{"spec":{"maxReplicas":12}}')
    body["metadata"]["name"] = "second"
    body["spec"]["maxReplicas"] = 11
    made = refusal(plane, "POST", SCALERS, body)

    assert (
        'admission webhook "autoscalers.guard.springtide.io" denied the request: HoldsState: '
        "HorizontalPodAutoscaler default/chat cannot have a maximum of 8 for StatefulSet default/chat: replica 12 "
        "still holds state, and an autoscaler removes at once what is above its maximum."
    ) in lowered.stderr
    assert (enough.returncode, enough.stderr) == (0, "")
    assert "cannot have a maximum of 11" in made


def test_what_is_drained_may_go_and_doubt_keeps_the_rest(kubectl: Kubectl, api: PromApi) -> None:
    words = ("scale", "statefulset/chat", "--dry-run=server")
    export(api, "chat", 10, [*INDICES[:10], 0, 0])
    drained = eventually(
        lambda: kubectl("nobody", *words, "--replicas=10"), lambda done: done.returncode == 0
    )
    below = kubectl("nobody", *words, "--replicas=9")

    api.fails_with = DOWN
    doubtful = eventually(
        lambda: kubectl("nobody", *words, "--replicas=10"), lambda done: done.returncode == 1
    )
    raised = kubectl("nobody", *words, "--replicas=20")
    api.fails_with = None
    export(api, "chat", 12, INDICES)

    assert drained.stderr == ""
    assert "replica 10 still holds state" in below.stderr
    assert "FloorUnknown: StatefulSet default/chat cannot be scaled to 10" in doubtful.stderr
    assert raised.returncode == 0


def test_a_certificate_that_is_renewed_is_shown_without_a_restart(
    plane: ControlPlane, guard: Ours
) -> None:
    other = trustme.CA()
    name = registration(plane, guard.port)["metadata"]["name"]
    renewed = registration(plane, guard.port, other)
    renewed["metadata"]["resourceVersion"] = plane.ask("GET", f"{HOOKS}/{name}")["metadata"][
        "resourceVersion"
    ]

    certify(plane, "guard", other)
    eventually(lambda: guard.told("certificate_renewed"), lambda count: count == 1)
    plane.ask("PUT", f"{HOOKS}/{name}", renewed)

    eventually(lambda: _tried(plane), lambda code: code == "HoldsState", limit_s=30)

"""What `springtide replicas manifest` prints, taken by a real API server as an operator applies it.

PodMonitor and PrometheusRule are kinds of an operator that is not there; their definitions here take any field.
"""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from springtide.cli.main import run
from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.monitoring import MONITORING, monitored
from tests.manifesting import NAMESPACE, configuration, container, scaler, workload
from tools import kubectl as fetching

SETS: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets"
SCALERS: Final = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers"
REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
MEMBER: Final = f"system:serviceaccount:{NAMESPACE}:chat"

pytestmark = pytest.mark.timeout(300)
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """An API server that knows the kinds of monitoring, with the namespace of the workload."""
    found = planes(Setup())
    monitored(found)
    found.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    return found


class Operator:
    """Somebody with a shell: prints, and gives it to kubectl."""

    def __init__(self, plane: ControlPlane, folder: Path, capsys: Captured) -> None:
        self._plane = plane
        self._folder = folder
        self._capsys = capsys

    def prints(self, *arguments: str, **fields: Any) -> str:
        """Return what the command prints."""
        path = self._folder / "chat.json"
        path.write_bytes(msgspec.json.encode(configuration(**fields)))
        code = run(["replicas", "manifest", "--config", str(path), *arguments])
        printed = self._capsys.readouterr()
        assert code == 0, printed.err
        return printed.out

    def file(self, name: str, document: object) -> str:
        """Write a file, and return its path."""
        path = self._folder / name
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """Return what kubectl prints."""
        program = fetching.found()
        if program is None:
            pytest.skip(fetching.MISSING)
        done = subprocess.run(
            [str(program), f"--kubeconfig={self._plane.kubeconfig('admin')}", *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def operator(plane: ControlPlane, tmp_path: Path, capsys: Captured) -> Operator:
    """Somebody with a shell."""
    return Operator(plane, tmp_path, capsys)


APPLIED: Final = {
    "client": ("apply", "-f", "-"),
    "server": ("apply", "--server-side", "--validate=strict", "-f", "-"),
}


@pytest.mark.parametrize("how", APPLIED.values(), ids=APPLIED)
def test_the_api_server_takes_all_of_it_field_by_field(
    how: tuple[str, ...], plane: ControlPlane, operator: Operator
) -> None:
    """Covers R-3 in part."""
    authority = operator.file("ca.pem", plane.ca_pem.decode())
    where = ("-n", NAMESPACE, "-l", "app=chat")

    text = operator.prints(*where, f"--ca-bundle={authority}", "--allow-scale-down")
    dry = operator.kubectl(*how, "--dry-run=server", text=text)
    applied = operator.kubectl(*how, text=text)

    assert len(dry.splitlines()) == len(applied.splitlines()) == 8
    assert set(MONITORING.values()) <= {
        line.partition(".")[0] + "s" for line in applied.splitlines()
    }
    operator.kubectl("delete", "-f", "-", text=text)


def test_the_autoscaler_keeps_its_tolerance_and_its_targets(
    plane: ControlPlane, operator: Operator
) -> None:
    """Covers R-40 in part, R-45 in part."""
    text = operator.prints("-n", NAMESPACE, "-l", "app=chat")

    operator.kubectl("apply", "--server-side", "-f", "-", text=text)

    spec = plane.ask("GET", f"{SCALERS}/chat")["spec"]
    targets = [each["external"]["target"] for each in spec["metrics"]]
    behavior = spec["behavior"]
    assert targets == [{"type": "AverageValue", "averageValue": "1"}] * 2
    assert (behavior["scaleUp"]["tolerance"], behavior["scaleDown"]["tolerance"]) == ("0", "0")
    assert behavior["scaleDown"]["selectPolicy"] == "Disabled"
    operator.kubectl("delete", "-f", "-", text=text)


def may(plane: ControlPlane, verb: str, group: str, resource: str, **more: str) -> bool:
    """Return whether a member may do something in its namespace."""
    asked = {"namespace": NAMESPACE, "verb": verb, "group": group, "resource": resource, **more}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": MEMBER, "resourceAttributes": asked},
    }
    return bool(plane.create(REVIEWS, review)["status"]["allowed"])


def test_members_may_label_themselves_and_never_scale(
    plane: ControlPlane, operator: Operator
) -> None:
    """Covers R-2 in part."""
    text = operator.prints("-n", NAMESPACE, "-l", "app=chat")
    operator.kubectl("apply", "-f", "-", text=text)

    allowed = [
        may(plane, "patch", "", "pods", name="chat-0"),
        may(plane, "watch", "", "pods"),
        may(plane, "create", "", "configmaps"),
        may(plane, "patch", "", "configmaps", name="chat-hpa-status"),
        may(plane, "patch", "", "configmaps", name="chat-hpa-records"),
        may(plane, "patch", "", "configmaps", name="chat-hpa-values"),
        may(plane, "update", "coordination.k8s.io", "leases", name="chat-hpa-leader"),
    ]
    denied = [
        may(plane, verb, "apps", kind, subresource=part)
        for kind in ("statefulsets", "deployments", "replicasets")
        for part in ("scale", "")
        for verb in ("get", "update", "patch")
    ]

    assert all(allowed)
    assert not any(denied)
    assert not may(plane, "patch", "", "configmaps", name="others")
    assert not may(plane, "get", "", "secrets")
    operator.kubectl("delete", "-f", "-", text=text)


def test_the_patch_makes_a_bare_workload_one_that_nothing_is_wrong_with(
    plane: ControlPlane, operator: Operator
) -> None:
    """Covers R-37 in part."""
    bare = workload(
        pod={
            "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 30,
            "containers": [container(env=[], lifecycle={})],
        },
        ordinals={"start": 5},
        replicas=0,
    )
    plane.create(SETS, bare)
    before = operator.file("before.json", plane.ask("GET", f"{SETS}/chat"))

    patch = operator.prints("--workload", before, "--patch")
    file = operator.file("patch.yaml", patch)
    where = ("-n", NAMESPACE, "statefulset", "chat")
    operator.kubectl("patch", *where, "--patch-file", file)

    after = operator.kubectl("get", *where, "-o", "yaml")
    again = operator.prints("--workload", operator.file("after.yaml", after), "--check")
    (own,) = plane.ask("GET", f"{SETS}/chat")["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each.get("value") for each in own["env"]}
    assert again == ""
    assert (told["ORDINALS_START"], own["image"]) == ("5", container()["image"])
    plane.ask("DELETE", f"{SETS}/chat")


def test_what_the_server_shows_of_an_autoscaler_of_ours_has_no_fault(
    plane: ControlPlane, operator: Operator
) -> None:
    text = operator.prints("-n", NAMESPACE, "-l", "app=chat")
    operator.kubectl("apply", "-f", "-", text=text)
    plane.create(SCALERS, scaler("lobby", of="lobby"))

    shown = operator.kubectl("get", "-n", NAMESPACE, "hpa", "-o", "yaml")
    where = ("-n", NAMESPACE, "-l", "app=chat")

    assert operator.prints(*where, "--hpa", operator.file("hpa.yaml", shown), "--check") == ""
    operator.kubectl("delete", "-f", "-", text=text)

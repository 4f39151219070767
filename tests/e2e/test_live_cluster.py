"""Live reads of a real kube-apiserver: pages, rights, credentials, and snapshots of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from springtide.cli.main import run
from tests.e2e.controlplane import MISSING, ControlPlane, assets, control_plane

PROGRAMS = assets()
PODS = 520
Captured = pytest.CaptureFixture[str]

pytestmark = [
    pytest.mark.skipif(PROGRAMS is None, reason=MISSING),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with two nodes, more pods than a page has, and a user who may little."""
    assert PROGRAMS is not None
    with control_plane(PROGRAMS, tmp_path_factory.mktemp("control-plane")) as plane:
        plane.create("/api/v1/namespaces", {"metadata": {"name": "t"}})
        for name in ("a", "b"):
            plane.create("/api/v1/nodes", node(name))
        for number in range(PODS):
            plane.create("/api/v1/namespaces/t/pods", pod(f"p-{number:03}"))
        grant_little(plane)
        yield plane


def node(name: str) -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "200"}
    return {"metadata": {"name": name}, "status": {"capacity": amounts, "allocatable": amounts}}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "image", "env": [{"name": "A", "value": "the secret"}]}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


def grant_little(plane: ControlPlane) -> None:
    root = "/apis/rbac.authorization.k8s.io/v1"
    rule = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}
    plane.create(f"{root}/clusterroles", {"metadata": {"name": "little"}, "rules": [rule]})
    plane.create(
        f"{root}/clusterrolebindings",
        {
            "metadata": {"name": "little"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "little",
            },
            "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}
            ],
        },
    )


def answer(printed: str) -> dict[str, Any]:
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found


def test_all_pages_are_planned_for(cluster: ControlPlane, capsys: Captured) -> None:
    code = run(["plan", "--kubeconfig", cluster.kubeconfig("admin"), "-o", "json"])

    found = answer(capsys.readouterr().out)
    assert code == 1
    assert found["pending"] == PODS
    assert len(found["fitting"]) == 400
    assert found["problems"] == []
    assert not any("denied" in each or "right" in each for each in found["input"]["notes"])


def test_rights_that_are_missing_are_named(cluster: ControlPlane, capsys: Captured) -> None:
    run(["plan", "--kubeconfig", cluster.kubeconfig("reader"), "-o", "json"])

    found = answer(capsys.readouterr().out)
    assert found["pending"] == PODS
    (note,) = (each for each in found["input"]["notes"] if "right to list" in each)
    assert "storageclasses.storage.k8s.io" in note
    assert "daemonsets.apps" in note


@pytest.mark.parametrize(
    ("user", "sentence"), [("nobody", "grant the right"), ("stranger", "Log in again")]
)
def test_whoever_may_nothing_ends_with_4(
    user: str, sentence: str, cluster: ControlPlane, capsys: Captured
) -> None:
    code = run(["plan", "--kubeconfig", cluster.kubeconfig(user)])

    assert code == 4
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("flags", [[], ["--anonymise"]])
def test_a_snapshot_of_it_plans_like_it(
    flags: list[str], cluster: ControlPlane, tmp_path: Path, capsys: Captured
) -> None:
    target = tmp_path / "cluster.json"
    access = ["--kubeconfig", cluster.kubeconfig("admin")]

    run(["snapshot", *access, *flags, "-o", str(target)])
    capsys.readouterr()
    run(["plan", *access, "-o", "json"])
    live = answer(capsys.readouterr().out)
    run(["plan", str(target), "-o", "json"])
    again = answer(capsys.readouterr().out)

    assert b"the secret" not in target.read_bytes()
    assert (again["pending"], len(again["fitting"])) == (live["pending"], len(live["fitting"]))
    assert [each["message"] for each in again["stuck"]] == [
        each["message"] for each in live["stuck"]
    ]
    assert again["problems"] == live["problems"]

"""`springtide plan --call-extenders` from end to end: a folder, an extender that answers, a shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from springtide.cli.main import run
from tests.serving import Body, Reply, serving

CLUSTER = """
apiVersion: v1
kind: Node
metadata:
  name: a1
  labels: {pool: a}
  annotations: {example.com/licences: "0"}
status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
---
apiVersion: v1
kind: Node
metadata:
  name: b1
  labels: {pool: b}
  annotations: {example.com/licences: "2"}
status:
  capacity: {cpu: "4", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 32Gi, pods: "110"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: solver, namespace: lab}
spec:
  replicas: 5
  template:
    spec:
      containers:
      - name: main
        resources: {requests: {cpu: "2"}, limits: {example.com/licence: "1"}}
---
apiVersion: springtide.io/v1alpha1
kind: NodeGroups
groups:
- {name: a, nodeSelector: {matchLabels: {pool: a}}, maxSize: 5}
- {name: b, nodeSelector: {matchLabels: {pool: b}}, maxSize: 5}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: ADDRESS
  filterVerb: filter
  managedResources: [{name: example.com/licence, ignoredByScheduler: true}]
"""

Captured = pytest.CaptureFixture[str]


def licences(_path: str, request: Body) -> Body:
    """Lets nodes pass that have a licence left."""
    items = request["Nodes"]["items"]
    failed = {
        each["metadata"]["name"]: "no licence left"
        for each in items
        if each["metadata"]["annotations"]["example.com/licences"] == "0"
    }
    return {
        "Nodes": {"items": [each for each in items if each["metadata"]["name"] not in failed]},
        "FailedNodes": failed,
    }


def folder(path: Path, address: str) -> str:
    (path / "cluster.yaml").write_text(CLUSTER.replace("ADDRESS", address))
    return str(path)


def test_an_extender_decides_which_nodes_take_pods(tmp_path: Path, capsys: Captured) -> None:
    with serving(licences) as server:
        code = run(["plan", folder(tmp_path, server.url), "--call-extenders"])

    printed = capsys.readouterr()
    assert code == 0
    assert "2 pods already fit the nodes that are there. Adding 2 nodes to b" in printed.out
    assert f"no licence left: says extender {server.url}" in printed.out
    assert printed.err == ""


def test_without_the_option_it_is_taken_to_agree(tmp_path: Path, capsys: Captured) -> None:
    with serving(licences) as server:
        code = run(["plan", folder(tmp_path, server.url)])

    printed = capsys.readouterr()
    assert code == 0
    assert server.asked == []
    assert "5 pods already fit the nodes that are there." in printed.out
    assert f"The scheduler extender {server.url} is not called, and taken to agree" in printed.out


def test_an_extender_that_is_not_there_ends_with_3_and_a_plan_for_the_others(
    tmp_path: Path, capsys: Captured
) -> None:
    with serving(licences) as server:
        pass

    code = run(["plan", folder(tmp_path, server.url), "--call-extenders", "-o", "json"])

    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert code == 3
    assert answer["stuck"][0]["message"] == f'Post "{server.url}/filter": Connection refused'
    assert answer["extenders"][0]["treatment"] == "Called"
    assert f"Error: The scheduler extender {server.url} gave no usable answer" in printed.err
    assert "without --call-extenders" in printed.err


def test_an_error_in_an_answer_is_an_answer(tmp_path: Path, capsys: Captured) -> None:
    with serving(lambda *_: {"Error": "no such licence"}) as server:
        code = run(["plan", folder(tmp_path, server.url), "--call-extenders"])

    printed = capsys.readouterr()
    assert code == 1
    assert f"no such licence: from extender {server.url}" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--extender-max-calls", "1"], "extender budget exhausted: 1 calls are made"),
        (["--extender-budget", "0.05"], "extender budget exhausted: 0.05 s are spent"),
    ],
)
def test_budgets_are_kept(options: list[str], words: str, tmp_path: Path, capsys: Captured) -> None:
    def answer(path: str, request: Body) -> Reply | Body:
        return licences(path, request) if "calls" in options[0] else Reply(hangs=True)

    with serving(answer) as server:
        code = run(["plan", folder(tmp_path, server.url), "--call-extenders", *options])

    assert code == 3
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "given", [["--extender-budget", "5"], ["--extender-max-calls", "5"], ["--extender-strict-tls"]]
)
def test_what_is_only_about_calls_is_refused_without_them(
    given: list[str], tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)

    code = run(["plan", str(tmp_path), *given])

    assert code == 2
    said = capsys.readouterr().err
    assert f"{given[0]} is about calls of extenders: add --call-extenders, or leave it out." in said


def test_strict_tls_refuses_the_configuration(tmp_path: Path, capsys: Captured) -> None:
    address = "https://extender.invalid\n  enableHTTPS: true"

    code = run(["plan", folder(tmp_path, address), "--call-extenders", "--extender-strict-tls"])

    assert code == 2
    assert "cluster.yaml, line 43: extenders[0].enableHTTPS" in capsys.readouterr().err


def test_a_proxy_that_is_none_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "springtide", "plan", folder(tmp_path, "http://a.invalid")]

    done = subprocess.run(
        [*command, "--call-extenders"],
        env={**os.environ, "ALL_PROXY": "nowhere://proxy"},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 2
    assert b"proxy that the environment names cannot be used" in done.stderr
    assert b"Traceback" not in done.stderr

"""What is told beside the answer, from which level on, and that no secret is among it."""

from pathlib import Path

import pytest

from springtide.base.telling import Level, Untold
from springtide.cli.main import run
from springtide.cli.verbosity import line, teller
from tests.serving import Body, serving

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = str(ROOT / "examples" / "warm-group")
LICENSED = """
apiVersion: v1
kind: Node
metadata: {name: a1}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: solver
  namespace: lab
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "tell-no-one-1"}
spec:
  containers:
  - name: main
    command: [solve, --password=tell-no-one-2]
    env:
    - {name: PASSWORD, value: tell-no-one-3}
    - {name: HOST, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: Authorization, value: tell-no-one-4}]}}
    resources: {limits: {example.com/licence: "1"}}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: ADDRESS
  filterVerb: filter
  managedResources: [{name: example.com/licence, ignoredByScheduler: true}]
"""

Captured = pytest.CaptureFixture[str]


def events(text: str) -> list[str]:
    """The names of the events."""
    return [each.split(" ", 1)[0] for each in text.splitlines()]


@pytest.mark.parametrize("level", [[], ["-v0"], ["-v", "1"]])
def test_nothing_is_told_unless_asked_for(level: list[str], capsys: Captured) -> None:
    run(["plan", EXAMPLE, *level])

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("level", [["-v2"], ["-v", "2"], ["-v=2"], ["--v=2"], ["-v", "3"]])
def test_decisions_are_told_one_a_line(level: list[str], capsys: Captured) -> None:
    plain = run(["plan", EXAMPLE, "-o", "json"]), capsys.readouterr().out

    code = run(["plan", EXAMPLE, "-o", "json", *level])

    printed = capsys.readouterr()
    assert (code, printed.out) == plain
    assert events(printed.err) == ["nodes_filled", "group_grown", "pods_stuck"]
    grown = printed.err.splitlines()[1]
    assert grown.startswith("group_grown step=1 group=a100-80g nodes=2->3 pods=3 why=")


def test_debugging_adds_what_led_to_them(capsys: Captured) -> None:
    run(["plan", EXAMPLE, "-v4"])

    told = capsys.readouterr().err
    assert told.startswith("input_read objects=37 problems=0 seconds=")
    assert "group_rejected step=1 group=h100 why=" in told
    assert "pod_placed step=1 pod=team-a/train-0 node=a100-80g-new-3" in told


def test_a_group_that_is_only_raised_is_told_apart(tmp_path: Path, capsys: Captured) -> None:
    groups = tmp_path / "groups.yaml"
    groups.write_text(
        "apiVersion: springtide.io/v1alpha1\n"
        "kind: NodeGroups\n"
        "groups:\n"
        "- {name: web, minSize: 2, maxSize: 3, template: {capacity: {cpu: 4}}}\n"
    )

    run(["plan", str(groups), "--enforce-node-group-min-size", "-v2"])

    told = capsys.readouterr().err
    assert "group_raised step=1 group=web nodes=0->2 pods=0 why=" in told


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["why", "-f", EXAMPLE], "pods_explained pods=2 first=team-a/train-0 fits=false why="),
        (["headroom", EXAMPLE], "room_counted ask="),
        (["replay", EXAMPLE], "replayed policy="),
    ],
)
def test_other_commands_tell_their_decisions_too(
    arguments: list[str], first: str, capsys: Captured
) -> None:
    run([*arguments, "-v2"])

    told = capsys.readouterr().err
    assert told.startswith(first)
    assert len(set(events(told))) == 1


@pytest.mark.parametrize("level", ["-1", "10", "much"])
def test_levels_are_those_of_kubectl(level: str, capsys: Captured) -> None:
    code = run(["plan", EXAMPLE, "-v", level])

    assert code == 2
    assert "Write a number from 0 to 9." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("-v4", []),
        ("-v6", ["extender_called"]),
        ("-v8", ["extender_called", "extender_request", "extender_answer"]),
    ],
)
def test_requests_are_told_and_then_their_bodies(
    level: str, expected: list[str], tmp_path: Path, capsys: Captured
) -> None:
    with serving(agreeing) as server:
        run(["plan", folder(tmp_path, server.url), "--call-extenders", level])
        asked = len(server.asked)

    told = events(capsys.readouterr().err)
    assert asked == 1
    assert [each for each in told if each.startswith("extender_")] == expected


def test_no_secret_is_told(tmp_path: Path, capsys: Captured) -> None:
    with serving(agreeing) as server:
        address = server.url.replace("://", "://me:tell-no-one-5@")
        run(["plan", folder(tmp_path, address), "--call-extenders", "-v9", "-o", "name"])

    told = capsys.readouterr().err
    assert "tell-no-one" not in told
    assert "PASSWORD" in told
    assert "fieldPath" in told
    assert f"url={server.url}/filter" in told


def test_a_server_that_is_not_there_is_told(tmp_path: Path, capsys: Captured) -> None:
    with serving(agreeing) as server:
        pass

    run(["plan", folder(tmp_path, server.url), "--call-extenders", "-v6"])

    called = capsys.readouterr().err.splitlines()[1]
    assert called.startswith("extender_called ")
    assert "Connection refused" in called


def test_values_are_quoted_where_they_have_to_be() -> None:
    facts: dict[str, str | float] = {"plain": "a/b-1", "said": 'a "b"\nc', "count": 3, "empty": ""}

    told = line("it_happened", facts)

    assert told == 'it_happened plain=a/b-1 said="a \\"b\\"\\nc" count=3 empty=""'


def test_nothing_is_prepared_for_nobody() -> None:
    assert isinstance(teller(1), Untold)
    assert not Untold().hears(Level.DECISION)
    assert teller(2).hears(Level.DECISION)
    assert not teller(2).hears(Level.DEBUG)


def agreeing(_path: str, request: Body) -> Body:
    """Lets every node pass."""
    return {"Nodes": request["Nodes"]}


def folder(path: Path, address: str) -> str:
    (path / "cluster.yaml").write_text(LICENSED.replace("ADDRESS", address))
    return str(path)

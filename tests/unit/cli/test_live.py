"""A live cluster as input of `springtide plan`: when it is read, and which exit code its faults mean."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from springtide.cli.main import run
from springtide.cli.options import Cluster
from tests.apiserver import PATHS, Object, Reply, api_server, kubeconfig, status

ROOT = Path(__file__).resolve().parents[3]
DUMP = ROOT / "tests" / "recorded" / "cluster-dump"
Captured = pytest.CaptureFixture[str]

# A shell starts background jobs deaf to interrupts, and this may run in one.
LISTENING = """
import signal, sys
from springtide.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "springtide"
main()
"""
NODE: Object = {
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "4", "pods": "10"}},
}


def pod(namespace: str, name: str, *, cpu: str = "1") -> Object:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"namespace": namespace, "name": name, "uid": f"{namespace}-{name}"}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def report(printed: str) -> dict[str, object]:
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found


def test_a_cluster_gives_the_answer_of_its_dump(tmp_path: Path, capsys: Captured) -> None:
    dump = json.loads(gzip.decompress((DUMP / "after.json.gz").read_bytes()))
    objects = [each for each in dump["items"] if each["kind"] in PATHS]
    same = tmp_path / "dump.json"
    same.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    with api_server(objects, page_objects=50) as server:
        live_code = run(
            ["plan", "--kubeconfig", kubeconfig(tmp_path / "c", server.url), "-o", "json"]
        )
    live = report(capsys.readouterr().out)
    file_code = run(["plan", str(same), "-o", "json"])
    of_file = report(capsys.readouterr().out)

    assert live_code == file_code == 1
    assert live == of_file
    assert live["pending"] == 12


def test_files_are_read_beside_the_cluster(tmp_path: Path, capsys: Captured) -> None:
    manifest = tmp_path / "pod.json"
    manifest.write_text(
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new"},'
        '"spec":{"containers":[{"name":"main"}]}}'
    )

    with api_server([NODE, pod("t", "old")]) as server:
        path = kubeconfig(tmp_path / "config", server.url)
        code = run(["plan", str(manifest), "--kubeconfig", path, "-o", "json"])

    found = report(capsys.readouterr().out)
    assert code == 0
    assert found["fitting"] == [
        {"pod": "t/old", "node": "a"},
        {"pod": "default/new", "node": "a"},
    ]


@pytest.mark.parametrize("flags", [["-A"], ["-n", "t"], ["--context", "test"]])
def test_the_current_cluster_is_read_if_there_is_nothing_else(
    flags: list[str], tmp_path: Path
) -> None:
    with api_server([NODE, pod("t", "p")]) as server:
        environ = {**os.environ, "KUBECONFIG": kubeconfig(tmp_path / "config", server.url)}
        done = subprocess.run(
            [sys.executable, "-m", "springtide", "plan", *flags],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=environ,
        )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"1 pod is pending" in done.stdout


def test_what_is_piped_in_comes_before_the_current_cluster(tmp_path: Path) -> None:
    piped = json.dumps({"apiVersion": "v1", **pod("t", "p")}).encode()
    with api_server([NODE]) as server:
        environ = {**os.environ, "KUBECONFIG": kubeconfig(tmp_path / "config", server.url)}
        done = subprocess.run(
            [sys.executable, "-m", "springtide", "plan", "-n", "t"],
            input=piped,
            capture_output=True,
            check=False,
            env=environ,
        )

    assert done.returncode == 1
    assert b"1 pod is pending" in done.stdout
    assert server.asked == []


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["-A"], b"There is no kubeconfig, and this is no pod of a cluster"),
        (["--context", "prod"], b'no kubeconfig that could have the context "prod"'),
    ],
)
def test_without_any_kubeconfig_the_remedy_is_named(
    flags: list[str], sentence: bytes, tmp_path: Path
) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KUBE")}

    done = subprocess.run(
        [sys.executable, "-m", "springtide", "plan", *flags],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**kept, "HOME": str(tmp_path)},
    )

    assert done.returncode == 2
    assert sentence in done.stderr


def test_an_interrupt_while_reading_ends_with_130(tmp_path: Path) -> None:
    with api_server([NODE]) as server:
        server.scripted[PATHS["Node"]] = [Reply(hangs=True)]
        command = [sys.executable, "-c", LISTENING, "plan", "--kubeconfig"]
        with subprocess.Popen(
            [*command, kubeconfig(tmp_path / "config", server.url)], stderr=subprocess.PIPE
        ) as process:
            assert server.has_hung.wait(30)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)

    assert process.returncode == 130
    assert b"Traceback" not in said


def test_only_pods_of_the_namespace_are_planned_for(tmp_path: Path, capsys: Captured) -> None:
    objects = [NODE, pod("t", "p", cpu="3"), pod("other", "q", cpu="3")]

    with api_server(objects) as server:
        path = kubeconfig(tmp_path / "config", server.url)
        code = run(["plan", "--kubeconfig", path, "-n", "t"])

    printed = capsys.readouterr().out
    assert code == 0
    assert "1 pending pod of other namespaces than t is not planned for" in printed


def test_a_namespace_chooses_among_the_pods_of_files_without_any_cluster(
    tmp_path: Path, capsys: Captured
) -> None:
    dump = tmp_path / "dump.json"
    objects = [
        {"apiVersion": "v1", **each} for each in (NODE, pod("t", "p"), pod("other", "q", cpu="9"))
    ]
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    whole = run(["plan", str(dump)])
    capsys.readouterr()
    part = run(["plan", str(dump), "-n", "t"])

    assert (whole, part) == (1, 0)
    assert "1 pod is pending" in capsys.readouterr().out


def test_what_was_not_read_is_said_in_the_answer(tmp_path: Path, capsys: Captured) -> None:
    with api_server([NODE, pod("t", "p")]) as server:
        server.scripted[PATHS["StorageClass"]] = [status(403)]
        del server.lists[PATHS["CSIStorageCapacity"]]
        code = run(["plan", "--kubeconfig", kubeconfig(tmp_path / "c", server.url), "-o", "json"])

    found = report(capsys.readouterr().out)
    assert code == 0
    assert isinstance(found["input"], dict)
    assert found["input"]["notes"] == [
        (
            "Not read, because the right to list them in the whole cluster is missing: "
            "storageclasses.storage.k8s.io. Have it granted to have them looked at."
        ),
        "Not read, because this cluster does not serve them: csistoragecapacities.storage.k8s.io.",
    ]


@pytest.mark.parametrize(
    ("reply", "code", "sentence"),
    [
        (status(403, "nodes is forbidden"), 4, "have somebody grant the right to list them"),
        (status(401, "Unauthorized"), 4, "Log in again"),
        (Reply(body=b"<html>"), 3, "Check that the kubeconfig names an API server"),
        (status(429, retry_after="99"), 3, "Try again later"),
    ],
)
def test_a_fault_of_the_cluster_is_one_sentence_and_a_code(
    reply: Reply, code: int, sentence: str, tmp_path: Path, capsys: Captured
) -> None:
    with api_server([NODE]) as server:
        server.scripted[PATHS["Node"]] = [reply]
        ended = run(["plan", "--kubeconfig", kubeconfig(tmp_path / "config", server.url)])

    printed = capsys.readouterr()
    assert ended == code
    assert printed.out == ""
    assert printed.err.startswith("Error: ")
    assert sentence in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_cluster_that_is_not_there_ends_with_3(tmp_path: Path, capsys: Captured) -> None:
    with api_server() as server:
        path = kubeconfig(tmp_path / "config", server.url)

    code = run(["plan", "--kubeconfig", path])

    assert code == 3
    assert "cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-n", "t", "-A"], "exclude each other"),
        (["--request-timeout", "soon"], "'soon' is no duration; write it like 30s"),
        (["--kubeconfig", "nowhere/config"], "the kubeconfig cannot be read"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], sentence: str, capsys: Captured) -> None:
    code = run(["plan", *arguments])

    printed = capsys.readouterr()
    assert code == 2
    assert sentence in printed.err


def test_a_namespace_alone_does_not_ask_for_a_cluster_where_files_are_named() -> None:
    assert not Cluster(namespace="t").is_asked(has_paths=True)
    assert not Cluster().is_asked(has_paths=False)
    assert Cluster(context="c").is_asked(has_paths=True)


@pytest.mark.parametrize("command", ["plan", "why", "headroom", "replay", "snapshot"])
def test_requests_to_the_cluster_are_told_without_credentials(
    command: str, tmp_path: Path, capsys: Captured
) -> None:
    with api_server([NODE, pod("lab", "p")]) as server:
        path = kubeconfig(tmp_path / "c", server.url)
        run([command, "--kubeconfig", path, "-v6"])

    told = capsys.readouterr().err
    assert "cluster_asked path=/api/v1/nodes status=200 bytes=" in told
    assert "t0ken" not in told


def test_requests_are_not_told_unless_asked_for(tmp_path: Path, capsys: Captured) -> None:
    with api_server([NODE]) as server:
        run(["plan", "--kubeconfig", kubeconfig(tmp_path / "c", server.url), "-v5"])

    assert "cluster_asked" not in capsys.readouterr().err

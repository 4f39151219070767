"""`springtide why` asks the running extender of a cluster, and reads the cluster where none answers."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from springtide.cli.main import run
from tests.apiserver import ApiServer, Object, Reply, api_server, kubeconfig, status
from tests.running import Unwilling, World, running
from tests.running import run as run_work

Captured = pytest.CaptureFixture[str]

NODE: Object = {
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "4", "pods": "10"}},
}
POD: Object = {
    "kind": "Pod",
    "metadata": {"namespace": "team", "name": "train", "uid": "u"},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]},
}
PROXIED = "/api/v1/namespaces/kube-system/services/https:ours:443/proxy/v1/why"
METRICS = "/api/v1/namespaces/kube-system/services/http:ours:9395/proxy/v1/why"
ANSWER: Object = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "Why",
    "fits": True,
    "pods": [
        {
            "pods": ["team/train"],
            "state": "Waiting",
            "fits": True,
            "answer": "The extender says so.",
            "chain": "The extender says so.",
        }
    ],
    "notEvaluated": [],
    "problems": [],
    "input": {"objects": 1, "kinds": {}, "nodes": 1, "pods": 1, "skipped": 0, "notes": []},
}


def service(*ports: int) -> Object:
    named = [{"name": {443: "https"}.get(port, "metrics"), "port": port} for port in ports]
    return {
        "kind": "Service",
        "metadata": {"namespace": "kube-system", "name": "ours"},
        "spec": {"ports": named},
    }


def said(body: object, code: int = 200) -> Reply:
    return Reply(status=code, body=json.dumps(body).encode())


def asked(
    tmp_path: Path, *arguments: str, script: Callable[[ApiServer], None], ports: tuple[int, ...]
) -> tuple[int, ApiServer]:
    """Ask about a pod of a cluster; returns the exit code and what the API server was asked."""
    objects = [NODE, POD, *([service(*ports)] if ports else [])]
    with api_server(objects) as server:
        script(server)
        access = kubeconfig(tmp_path / "config", server.url)
        code = run(["why", *arguments, "--kubeconfig", access])
    return code, server


def answers(reply: Reply, *, at: str = PROXIED) -> Callable[[ApiServer], None]:
    return lambda server: server.scripted[at].append(reply)


def test_the_extender_of_the_cluster_is_asked_and_nothing_else_is_read(
    tmp_path: Path, capsys: Captured
) -> None:
    code, server = asked(
        tmp_path, "pod/train", "-n", "team", script=answers(said(ANSWER)), ports=(443, 9395)
    )

    assert code == 0
    assert "The extender says so." in capsys.readouterr().out
    assert [each.path for each in server.asked] == ["/api/v1/services", PROXIED]
    assert server.asked[0].query["labelSelector"] == "app.kubernetes.io/component=hami-scheduler"
    assert server.asked[1].query == {"pod": "pod/train", "namespace": "team"}


def test_a_service_without_tls_is_asked_in_the_clear(tmp_path: Path, capsys: Captured) -> None:
    script = answers(said(ANSWER), at=METRICS)

    code, _ = asked(tmp_path, "team/train", "--all-nodes", script=script, ports=(9395,))

    assert code == 0
    assert "The extender says so." in capsys.readouterr().out


def test_a_name_that_the_extender_does_not_know_is_wrong_usage(
    tmp_path: Path, capsys: Captured
) -> None:
    sentence = "There is no pod team/tran in the input. Did you mean team/train?"

    code, server = asked(
        tmp_path, "team/tran", script=answers(said({"error": sentence}, 404)), ports=(443,)
    )

    assert code == 2
    assert sentence in capsys.readouterr().err
    assert server.count("/api/v1/pods") == 0


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404, body=b"404 page not found\n"),
        status(404, 'services "ours" not found'),
        status(503, "no endpoints available for service"),
        said({"error": "the scheduler is still reading the cluster"}, 503),
        said({"kind": "Other"}),
        Reply(body=b"\xff"),
    ],
)
def test_where_it_does_not_answer_the_cluster_is_read(
    reply: Reply, tmp_path: Path, capsys: Captured
) -> None:
    code, server = asked(tmp_path, "team/train", script=answers(reply), ports=(443,))

    assert code == 1
    assert "Insufficient cpu" in capsys.readouterr().out
    assert server.count("/api/v1/pods") == 1


def test_whoever_may_not_list_services_has_the_cluster_read(
    tmp_path: Path, capsys: Captured
) -> None:
    script = answers(status(403, "forbidden"), at="/api/v1/services")

    code, _ = asked(tmp_path, "team/train", script=script, ports=(443,))

    assert code == 1
    assert "Insufficient cpu" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options", [["-A"], ["--node-policy", "binpack"], ["--strict-hami"], ["--device-policy=spread"]]
)
def test_options_about_the_view_have_the_cluster_read(
    options: list[str], tmp_path: Path, capsys: Captured
) -> None:
    code, server = asked(
        tmp_path, "team/train", *options, script=answers(said(ANSWER)), ports=(443,)
    )

    assert code == 1
    assert PROXIED not in [each.path for each in server.asked]
    assert capsys.readouterr().out


def test_an_extender_by_its_address_is_asked_directly(capsys: Captured) -> None:
    world = World()
    world.add_node("a")
    world.add_pod("big", gpu=1, gpumem=90000)

    async def work() -> int:
        async with running(Unwilling(world.store)) as extender:
            url = f"http://{extender.calls.host}:{extender.calls.port}/"
            arguments = ["why", "pod/big", "-n", "team", "--server", url, "-o", "json"]
            return await asyncio.to_thread(run, arguments)

    code = run_work(work())

    found = json.loads(capsys.readouterr().out)
    assert code == 1
    assert found["pods"][0]["verdicts"][0]["reason"] == "2/2 CardInsufficientMemory"
    assert "running extender" in found["input"]["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--server", "http://127.0.0.1:9"], 2, "Name the pods"),
        (["a/b", "-A", "--server", "http://127.0.0.1:9"], 2, "leave out --server"),
        (["a/b", "-f", "x.yaml", "--server", "http://127.0.0.1:9"], 2, "leave out --server"),
        (["a/b", "--server", "http://127.0.0.1:9"], 3, "Check that the extender is up"),
        (["a/b", "--server", "127.0.0.1:9"], 2, "is no URL"),
    ],
)
def test_an_address_that_cannot_be_asked_is_told(
    arguments: list[str], code: int, sentence: str, capsys: Captured
) -> None:
    assert run(["why", *arguments]) == code
    assert sentence in capsys.readouterr().err

"""`springtide extender --simulation-only`, and simulations beside a live scheduler: configuration and life."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from springtide.cli.main import run
from springtide.edge.serving import Listener, listening
from tests.apiserver import kubeconfig
from tests.kubeapi import KubeApi, served
from tests.loopback import call
from tests.running import World
from tests.simulating import A10, Json, body, fitting, node, pod, read, reasons
from tests.simulators import CLIENT, Papers

Captured = pytest.CaptureFixture[str]
TLS = {"certFile": "x", "keyFile": "y", "clientCAFile": "z"}
DEVICES = {"nvidia": {"resourceCountName": "nvidia.com/gpu"}}
PROFILE = """
apiVersion: springtide.io/v1alpha1
kind: DeviceProfile
metadata: {name: cold}
spec:
  nodeSelector: {matchLabels: {pool: cold}}
  devices: [{vendor: NVIDIA, count: 1, slots: 10, memoryMiB: 24576, type: NVIDIA-A10}]
"""


def document(**fields: Any) -> str:
    """Return a configuration."""
    header = {"apiVersion": "springtide.io/v1alpha1", "kind": "ExtenderConfiguration"}
    return msgspec.json.encode({**header, **fields}).decode()


def written(folder: Path, text: str, *, name: str = "extender.yaml") -> str:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "simulation.tls.certFile: callers have to be known"),
        ({"tls": {"certFile": "x"}}, "simulation.tls.keyFile: callers have to be known"),
        (
            {"tls": {"certFile": "x", "keyFile": "y"}},
            "simulation.tls.clientCAFile: no caller could show who it is",
        ),
        ({"tls": TLS}, "simulation.identities: nobody may call"),
        ({"tls": TLS, "identities": [""]}, "simulation.identities: nobody may call"),
        ({"tls": TLS, "identities": ["a"]}, "x cannot be read"),
        ({"tls": TLS, "identities": ["a"], "requestTimeout": "soon"}, "simulation.requestTimeout: "),
        ({"tls": TLS, "identities": ["a"], "requestTimeout": "0s"}, "simulation.requestTimeout: "),
        ({"tls": TLS, "identities": ["a"], "limits": {"burst": 0}}, "simulation.limits.burst: 0 is too few"),
        ({"identity": ["a"]}, 'simulation.identity: there is no such field; did you mean "identities"?'),
        ({"tls": TLS, "identities": ["a"], "profileFiles": ["/nowhere"]}, "/nowhere"),
    ],
)  # fmt: skip
def test_a_section_that_makes_no_sense_is_told(
    tmp_path: Path, capsys: Captured, fields: Json, words: str
) -> None:
    path = written(tmp_path, document(simulation=fields))

    for arguments in (["--simulation-only"], []):
        code = run(["extender", "--config", path, *arguments])

        assert words in capsys.readouterr().err
        assert code == 2


def test_alone_it_says_what_it_lacks(capsys: Captured) -> None:
    code = run(["extender", "--simulation-only"])

    assert "the command line: simulation.tls.certFile: " in capsys.readouterr().err
    assert code == 2


def test_files_without_profiles_are_told(tmp_path: Path, capsys: Captured) -> None:
    papers = Papers(tmp_path)
    empty = written(tmp_path, "kind: Other\n", name="empty.yaml")
    config = written(tmp_path, document(deviceConfig=DEVICES))

    code = run(["extender", "--config", config, *options(papers), "--profile-file", empty])

    assert "there is no DeviceProfile" in capsys.readouterr().err
    assert code == 2


def options(papers: Papers) -> list[str]:
    """Return the options of a server with these certificates."""
    files = papers.files
    return [
        "--simulation-bind-address=127.0.0.1:0",
        f"--simulation-cert-file={files.certificate}",
        f"--simulation-key-file={files.key}",
        f"--simulation-client-ca-file={files.client_authorities}",
        f"--simulation-identity={CLIENT}",
    ]


class Running:
    """A process, and what it has told."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def told(self, event: str) -> Json:
        """Wait until it tells of an event."""
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            facts: Json = msgspec.json.decode(line)
            if facts["event"] == event:
                return facts
        raise AssertionError(f"it ended without {event}")

    async def listener(self) -> Listener:
        """Return where it simulates, once it does."""
        facts = await self.told("simulating")
        closed = listening("127.0.0.1:0")
        closed.socket.close()
        return msgspec.structs.replace(closed, port=facts["port"])


@asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[Running]:
    """Run the command in a process of its own, without a cluster that the environment names."""
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "springtide", "extender", *arguments,
        stderr=asyncio.subprocess.PIPE, env=environment,
    )  # fmt: skip
    try:
        yield Running(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def test_alone_it_simulates_without_any_cluster_by_profiles_from_files(tmp_path: Path) -> None:
    papers = Papers(tmp_path)
    profile = written(tmp_path, PROFILE, name="profile.yaml")
    cold = node("cold", labels={"pool": "cold"})

    async def work() -> None:
        config = written(tmp_path, document(shutdownDelay="0s"))
        said = [f"--config={config}", f"--profile-file={profile}"]
        arguments = ["--simulation-only", *options(papers), *said]
        async with started(*arguments) as running:
            listener = await running.listener()
            asked = body(pod(), cold, node("bare"))
            answer = await call(
                listener, "POST", "/filter-simulation", asked, tls=papers.of(CLIENT)
            )
            running.process.send_signal(signal.SIGTERM)
            await running.told("stopped")

            assert fitting(read(answer.body)) == ["cold"]
            assert reasons(read(answer.body)) == {"bare": "node unregistered"}
            assert await running.process.wait() == 0

    asyncio.run(asyncio.wait_for(work(), 50))


def test_beside_a_live_scheduler_it_runs_in_a_process_that_is_started_again_and_ends_with_it(
    tmp_path: Path,
) -> None:
    papers, world = Papers(tmp_path), World()
    world.add_node("a")
    config = written(tmp_path, document(shutdownDelay="0s", deviceConfig=DEVICES))

    async def work() -> None:
        async with served(KubeApi(world.store)) as url:
            arguments = (
                "--http_bind=127.0.0.1:0",
                "--metrics-bind-address=",
                f"--config={config}",
                f"--kubeconfig={kubeconfig(tmp_path / 'config', url)}",
                *options(papers),
            )
            async with started(*arguments) as running:
                first = await running.listener()
                before = await call(first, "GET", "/healthz", tls=papers.anonymous())
                os.kill(child(running.process.pid), signal.SIGKILL)
                ended = await running.told("simulation_ended")
                second = await running.listener()
                simulated = await call(
                    second, "POST", "/filter-simulation", body(pod(), node("t", A10)),
                    tls=papers.of(CLIENT),
                )  # fmt: skip
                last = child(running.process.pid)
                running.process.send_signal(signal.SIGTERM)
                assert await running.process.wait() == 0

            assert before.status == 200
            assert ended["code"] == -signal.SIGKILL
            assert fitting(read(simulated.body)) == ["t"]
            assert not is_there(last)

    asyncio.run(asyncio.wait_for(work(), 50))


def child(parent: int) -> int:
    """Return the process that another one has started."""
    told = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    (only,) = told.split()
    return int(only)


def is_there(process: int) -> bool:
    """Return whether there is such a process."""
    return Path(f"/proc/{process}").exists()

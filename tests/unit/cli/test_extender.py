"""`springtide extender`: its configuration, what is told of one that makes no sense, and its life."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from springtide.cli.main import run
from springtide.edge.serving import listening
from tests.apiserver import kubeconfig
from tests.kubeapi import KubeApi, served
from tests.loopback import call
from tests.running import NODE, World

Captured = pytest.CaptureFixture[str]
DEVICES = "nvidia: {resourceCountName: nvidia.com/gpu}\n"


def written(folder: Path, text: str, *, name: str = "extender.yaml") -> str:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text)
    return str(path)


def document(**fields: Any) -> str:
    """Return a configuration."""
    header = {"apiVersion": "springtide.io/v1alpha1", "kind": "ExtenderConfiguration"}
    return msgspec.json.encode({**header, **fields}).decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "Extender"}, "kind: this is no ExtenderConfiguration"),
        (
            {"schedulrName": "x"},
            'schedulrName: there is no such field; did you mean "schedulerName"?',
        ),
        (
            {"tls": {"certfile": "x"}},
            'tls.certfile: there is no such field; did you mean "certFile"?',
        ),
        ({"nodeLockTimeout": "5 minutes"}, "nodeLockTimeout: "),
        ({"nodeLockTimeout": "-1s"}, "nodeLockTimeout: "),
        (
            {"reservationWrittenAt": "Filter"},
            'reservationWrittenAt: "Filter" is not one of the choices; did you mean "filter"?',
        ),
        ({"limits": {"bodyMib": 0}}, "limits.bodyMib: 0 is too few"),
        ({"nodeSchedulerPolicy": "spred"}, "nodeSchedulerPolicy: "),
        ({"gpuSchedulerPolicy": "spred"}, "gpuSchedulerPolicy: "),
        ({"leaderElection": {"enabled": True}}, "leaderElection.name: "),
        ({"deviceConfig": {"nvidia": {"defaultMemory": "much"}}}, "nvidia.defaultMemory"),
        ({"deviceConfig": {}, "deviceConfigFile": "x"}, "deviceConfigFile: deviceConfig is given"),
        ({"tls": {"clientCAFile": "x"}}, "clientCAFile needs TLS"),
        ({"tls": {"certFile": "x", "keyFile": "y"}}, "x cannot be read"),
        ({"bindAddress": "here"}, '"here" is no address'),
        ({"forceOverwriteDefaultScheduler": "yes"}, "forceOverwriteDefaultScheduler: "),
    ],
)
def test_a_configuration_that_makes_no_sense_is_told(
    tmp_path: Path, capsys: Captured, fields: dict[str, Any], words: str
) -> None:
    code = run(["extender", "--config", written(tmp_path, document(**fields))])

    assert words in capsys.readouterr().err
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--node-lock-timeout", "soon"], "the command line: nodeLockTimeout: "),
        (["--leader-elect=perhaps"], "neither true nor false"),
        (["--node-label-selector", "gpu"], '"gpu" is no label'),
        (["--device-config-file", "/nowhere"], "/nowhere"),
        (["--http-bind", ":80"], "No such option"),
        (["--config", "/nowhere"], "/nowhere"),
    ],
)
def test_options_that_make_no_sense_are_told(
    capsys: Captured, arguments: list[str], words: str
) -> None:
    code = run(["extender", *arguments])

    assert words in capsys.readouterr().err
    assert code == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", "nvidia: [", "- a"])
def test_a_device_configuration_that_says_nothing_is_told(
    tmp_path: Path, capsys: Captured, text: str
) -> None:
    path = written(tmp_path, text, name="devices.yaml")

    code = run(["extender", "--device-config-file", path])

    assert path in capsys.readouterr().err
    assert code == 2


class Running:
    """A process, and what it has told."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def told(self, event: str) -> dict[str, Any]:
        """Wait until it tells of an event."""
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            facts: dict[str, Any] = msgspec.json.decode(line)
            if facts["event"] == event:
                return facts
        raise AssertionError(f"it ended without {event}")


@asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[Running]:
    """Run the command in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "springtide", "extender", *arguments, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


HAMIS = (
    "--scheduler-name=hami-scheduler", "--force-overwrite-default-scheduler=true", "-v=4",
    "--kube-qps=0.001", "--kube-burst=1", "--kube-timeout=30", "--legacy-metrics=false",
    "--enable-ascend", "--node-scheduler-policy=binpack", "--gpu-scheduler-policy=spread",
    "--leader-elect=false", "--logtostderr=true", "--vmodule=a=1",
)  # fmt: skip
"""What HAMi's chart passes, and more that its scheduler takes."""


@pytest.mark.parametrize("where", ["bind", "filter"])
def test_a_pod_is_scheduled_by_a_process_that_was_started_as_hamis_chart_does(
    tmp_path: Path, where: str
) -> None:
    world = World()
    world.add_node("a")
    devices = written(tmp_path, DEVICES, name="devices.yaml")
    fields = {"shutdownDelay": "0s", "reservationWrittenAt": where}

    async def work() -> None:
        async with served(KubeApi(world.store)) as url:
            arguments = (
                "--http_bind=127.0.0.1:0",
                "--metrics-bind-address=127.0.0.1:0",
                f"--config={written(tmp_path, document(**fields))}",
                f"--device-config-file={devices}",
                f"--kubeconfig={kubeconfig(tmp_path / 'config', url)}",
                *HAMIS,
            )
            async with started(*arguments) as running:
                serving = await running.told("serving")
                await running.told("rebuilt")
                listener = listening("127.0.0.1:0")
                listener.socket.close()
                there = msgspec.structs.replace(listener, port=serving["port"])
                pod = world.add_pod("train", gpu=1)
                asked = {"Pod": pod, "NodeNames": ["a"]}
                filtered = await call(there, "POST", "/filter", msgspec.json.encode(asked))
                is_written_at_once = NODE in world.annotations("train")
                binding = {
                    "PodName": "train",
                    "PodNamespace": "team",
                    "PodUID": pod["metadata"]["uid"],
                    "Node": "a",
                }
                bound = await call(there, "POST", "/bind", msgspec.json.encode(binding))
                running.process.send_signal(signal.SIGTERM)
                await running.told("stopped")

                assert msgspec.json.decode(filtered.body)["NodeNames"] == ["a"]
                assert msgspec.json.decode(bound.body) == {"Error": ""}
                assert is_written_at_once is (where == "filter")
                assert world.annotations("train")[NODE] == "a"
                assert world.pod("train")["spec"]["nodeName"] == "a"
                assert await running.process.wait() == 0

    asyncio.run(asyncio.wait_for(work(), 50))


def test_a_cluster_that_cannot_be_named_ends_the_command(tmp_path: Path, capsys: Captured) -> None:
    code = run(
        [
            "extender",
            "--http_bind=127.0.0.1:0",
            "--metrics-bind-address=",
            f"--kubeconfig={tmp_path / 'nowhere'}",
        ]
    )

    assert "nowhere" in capsys.readouterr().err
    assert code == 2

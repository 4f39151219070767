"""Our extender in a process of its own, set up as HAMi's chart sets up its own, for an unmodified kube-scheduler."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.crowds import metrics
from tests.e2e.objects import a_pod
from tests.e2e.waiting import eventually

RESOURCES: Final = ("nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def configured(port: int) -> Object:
    """Return the configuration of the extender, as HAMi's chart has it."""
    return {
        "urlPrefix": f"http://127.0.0.1:{port}",
        "filterVerb": "filter",
        "bindVerb": "bind",
        "weight": 1,
        "nodeCacheCapable": True,
        "httpTimeout": "30s",
        "managedResources": [{"name": name, "ignoredByScheduler": True} for name in RESOURCES],
    }


@contextmanager
def extender(
    plane: ControlPlane, port: int, log: Path, *, options: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the extender while the block is entered."""
    arguments = [
        f"--http_bind=127.0.0.1:{port}",
        "--metrics-bind-address=",
        f"--kubeconfig={plane.kubeconfig('admin')}",
        "--scheduler-name=default-scheduler",
        *options,
    ]
    with log.open("ab") as told:
        command = [sys.executable, "-m", "springtide", "extender", *arguments]
        process = subprocess.Popen(command, env=os.environ, stderr=told)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def share_of_a_card(name: str, *, memory_mib: int, cores: int) -> Object:
    """Return a pod that asks for a part of one card."""
    amounts = ("1", str(memory_mib), str(cores))
    return a_pod(name, limits=(dict(zip(RESOURCES, amounts, strict=True)),))


def wait_for_devices(port: int, count: int) -> None:
    """Wait until the extender answers and knows so many devices."""
    eventually(lambda: _known(port), lambda found: found == count)


def _known(port: int) -> int:
    try:
        found = metrics(port)
    except OSError:
        return -1
    return sum(name.startswith("hami_gpu_memory_limit_bytes") for name in found)

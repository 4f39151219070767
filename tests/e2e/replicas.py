"""Our extender as replicas that a test starts, kills, ends and looks into, configured as in `deploy/`.

A replica is one of the programs of a control plane: it ends with it, and what it printed last is shown
beside a test that fails. It keeps its ports however often it is started.
"""

import json
import os
import signal
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.ours import free_port
from tests.e2e.rights import EXTENDER
from tests.e2e.waiting import eventually

READY_S: Final = 30.0
ANSWER_S: Final = 15.0
OURS: Final = "springtide_extender_"

Labels = Mapping[str, str]


class Replica:
    """One of them."""

    def __init__(
        self,
        plane: ControlPlane,
        name: str,
        document: Object,
        *,
        port: int,
        kubeconfig: str,
        pod: str,
    ) -> None:
        self.name = name
        self.port = port
        self.pages = free_port()
        self._plane = plane
        self._kubeconfig = kubeconfig
        self._environ = {"POD_NAME": pod, "POD_NAMESPACE": "kube-system"} if pod else {}
        self.configure(document)

    def configure(self, document: Object) -> None:
        """Write the configuration for the next start; what it says goes before what tests go by."""
        whole = {
            "apiVersion": "springtide.io/v1alpha1",
            "kind": "ExtenderConfiguration",
            "bindAddress": f"127.0.0.1:{self.port}",
            "metricsBindAddress": f"127.0.0.1:{self.pages}",
            "schedulerName": "default-scheduler",
            "shutdownDelay": "0s",
            **document,
        }
        self._file.write_text(json.dumps(whole), encoding="utf-8")

    @property
    def _file(self) -> Any:
        return self._plane.site.file(f"{self.name}-configuration.json")

    def start(self) -> None:
        """Start it, and wait until it knows the cluster."""
        files = (f"--config={self._file}", f"--kubeconfig={self._kubeconfig}")
        command = [sys.executable, "-m", "springtide", "extender", *files]
        processes = self._plane.processes
        processes.start(self.name, command, environ=self._environ)
        processes.wait_until(self.is_ready, "ready", name=self.name, limit_s=READY_S)

    def kill(self) -> None:
        """End it as a machine without power would."""
        self._plane.processes.stop(self.name, how=signal.SIGKILL)

    def end(self) -> int:
        """End it as a kubelet would, and return its code."""
        return self._plane.processes.stop(self.name)

    def freeze(self) -> None:
        """Let it stand still until it is killed."""
        os.kill(self._plane.processes.process_id(self.name), signal.SIGSTOP)

    def is_ready(self) -> bool:
        """Return whether it says that it can answer."""
        try:
            return self.page("/readyz") == "ok"
        except OSError:
            return False

    def page(self, path: str) -> str:
        """Return what a probe or a monitor is shown."""
        url = f"http://127.0.0.1:{self.pages}{path}"
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            return str(answer.read().decode())

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return what a scheduler is answered."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=json.dumps(body).encode()
        )
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.loads(answer.read())

    def figures(self, name: str) -> list[tuple[Labels, float]]:
        """Return all values of a metric with their labels."""
        families = text_string_to_metric_families(self.page("/metrics"))
        samples = (sample for family in families for sample in family.samples)
        return [(each.labels, each.value) for each in samples if each.name == name]

    def figure(self, name: str) -> float:
        """Return the value of a metric of ours that has no labels."""
        ((_, value),) = self.figures(OURS + name)
        return value

    def told(self, event: str) -> list[Object]:
        """Return what it has logged of an event, however often it was started."""
        with self._plane.processes.log(self.name).open(encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines if line.startswith("{")]
        return [each for each in found if each["event"] == event]


@contextmanager
def replica(
    plane: ControlPlane,
    name: str = "extender",
    document: Object | None = None,
    *,
    port: int | None = None,
    kubeconfig: str = "",
    pod: str = "",
) -> Iterator[Replica]:
    """Run a replica while the block is entered, unless the block ends it; it must have found no bug."""
    found = Replica(
        plane,
        name,
        document or {},
        port=port or free_port(),
        kubeconfig=kubeconfig or plane.kubeconfig(EXTENDER),
        pod=pod,
    )
    found.start()
    try:
        yield found
    finally:
        if name in plane.processes:
            found.kill()
    assert found.told("bug") == []


def knows(found: Replica, **figures: float) -> None:
    """Wait until metrics of ours have these values."""
    eventually(lambda: {name: found.figure(name) for name in figures}, lambda seen: seen == figures)

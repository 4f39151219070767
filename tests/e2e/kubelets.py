"""A kubelet whose pods are real processes: one `springtide replicas run` each, with an application beside it.

Every pod has a loopback address of its own, and its environment, account and hook are those of its spec. A
deleted pod is asked by its preStop hook first, then told by SIGTERM, and removed when its process has ended.
"""

import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.error import HTTPError

from tests.apiserver import kubeconfig
from tests.e2e.beside import Application
from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.crews import MERGE
from tests.e2e.objects import NODES, PODS
from tests.e2e.pod_specs import container_of, environment, port_of, status_of
from tests.standin import bodies
from tests.standin.bodies import FakeNode
from tests.standin.live import now

NODE: Final = "hall"
READY_S: Final = 60.0
PROBE_S: Final = 0.2

Configure = Callable[[str, str, str], Path]
"""From a pod's name, its address and its kubeconfig to the configuration of its process."""


class House:
    """What pods of one workload need of a kubelet."""

    def __init__(self, configure: Configure, address: Callable[[str], str]) -> None:
        self.configure = configure
        self.address = address


class Kubelet:
    """One node, and all pods on it."""

    def __init__(
        self,
        plane: ControlPlane,
        api_url: str,
        houses: Mapping[str, House],
        metrics: Callable[[str], str],
    ) -> None:
        self.plane = plane
        self.api_url = api_url
        self.houses = houses
        self.metrics = metrics
        self.pods: dict[str, Running] = {}
        self.hooks: dict[str, list[int]] = {}
        """What the preStop hooks of pods were answered."""
        self.codes: dict[str, list[int]] = {}
        """How the processes of pods ended."""
        self._of: dict[str, Running] = {}
        self._threads: list[threading.Thread] = []

    def register(self) -> None:
        """Let there be the node."""
        self.plane.create(NODES, bodies.node_object(FakeNode(name=NODE), when=now()))

    def hear(self, kind: str, pod: Object) -> None:
        """Take notice of a pod."""
        metadata = pod["metadata"]
        uid, app = metadata["uid"], metadata.get("labels", {}).get("app")
        if app not in self.houses or not pod["spec"].get("nodeName"):
            return
        running = self._of.get(uid)
        if running is None and kind != "DELETED":
            running = self._of[uid] = self.pods[metadata["name"]] = Running(self, pod)
            thread = threading.Thread(target=running.run)
            self._threads.append(thread)
            thread.start()
        if running is not None and (kind == "DELETED" or "deletionTimestamp" in metadata):
            running.deleted.set()

    def close(self) -> None:
        """Let all pods go without asking them."""
        for each in self._of.values():
            each.is_over = True
            each.deleted.set()
        for thread in self._threads:
            thread.join()


class Running:
    """One pod."""

    def __init__(self, kubelet: Kubelet, pod: Object) -> None:
        self.name: str = pod["metadata"]["name"]
        self.deleted = threading.Event()
        self.is_over = False
        self._kubelet = kubelet
        self._pod = pod
        self._house = kubelet.houses[pod["metadata"]["labels"]["app"]]
        self.address = self._house.address(self.name)
        self._restarts = 0
        self._turn = threading.Lock()
        self._application: Application | None = None

    @property
    def application(self) -> Application:
        """Return what runs beside the member."""
        assert self._application is not None, f"{self.name} does not run"
        return self._application

    @property
    def is_running(self) -> bool:
        """Return whether its process runs."""
        return self._application is not None

    def url(self, port: str) -> str:
        """Return where a port of the pod is, by its name."""
        return f"http://{self.address}:{port_of(container_of(self._pod), port)}"

    def run(self) -> None:
        """Live from the start of the process until the pod is removed."""
        self.start()
        self.deleted.wait()
        if self.is_running and not self.is_over:
            self._ask_hook()
        self._end(signal.SIGKILL if self.is_over else signal.SIGTERM)
        if not self.is_over:
            self._remove()

    def start(self) -> None:
        """Start the process, and say that the pod runs and when it is ready."""
        with self._turn:
            self._application = Application(self.name, self.address, self._kubelet.metrics)
            self._report(is_running=True, is_ready=False)
            self._kubelet.plane.processes.start(
                self.name, self._command(), environ=environment(self._pod, self.address)
            )
        url = self.url("metrics")
        end_s = time.monotonic() + READY_S
        while not _answers(f"{url}/readyz") and not self.deleted.is_set():
            assert time.monotonic() < end_s, f"{self.name} is never ready"
            self.deleted.wait(PROBE_S)
        if not self.deleted.is_set():
            self._report(is_running=True, is_ready=True)

    def kill(self) -> None:
        """End the process as a lack of memory would; nobody starts it again until a test does."""
        self._end(signal.SIGKILL)
        self._report(is_running=False, is_ready=False)

    def restart(self) -> None:
        """Start the process again in the same pod."""
        self._restarts += 1
        self.start()

    def _command(self) -> list[str]:
        path = self._house.configure(self.name, self.address, self._account())
        return [sys.executable, "-m", "springtide", "replicas", "run", f"--config={path}"]

    def _account(self) -> str:
        """Return a kubeconfig with a token of the pod's account, and no other right."""
        plane, account = self._kubelet.plane, self._pod["spec"]["serviceAccountName"]
        path = f"/api/v1/namespaces/default/serviceaccounts/{account}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = plane.create(path, body)["status"]["token"]
        return kubeconfig(
            plane.site.file(f"{self.name}-kubeconfig.json"),
            self._kubelet.api_url,
            user={"token": token},
            cluster={"certificate-authority": str(plane.site.file("ca.pem"))},
        )

    def _ask_hook(self) -> None:
        hook = container_of(self._pod)["lifecycle"]["preStop"]["httpGet"]
        grace_s = self._pod["spec"]["terminationGracePeriodSeconds"]
        code = 0
        try:
            with urllib.request.urlopen(
                f"{self.url(hook['port'])}{hook['path']}", timeout=grace_s
            ) as answer:
                code = answer.status
        except HTTPError as fault:
            code = fault.code
            fault.close()
        except OSError:
            pass
        self._kubelet.hooks.setdefault(self.name, []).append(code)

    def _end(self, how: signal.Signals) -> None:
        with self._turn:
            application, self._application = self._application, None
            if application is None:
                return
            code = self._kubelet.plane.processes.stop(self.name, how=how)
            self._kubelet.codes.setdefault(self.name, []).append(code)
            application.close()

    def _report(self, *, is_running: bool, is_ready: bool) -> None:
        status = status_of(
            self._pod,
            self.address,
            is_running=is_running,
            is_ready=is_ready,
            restarts=self._restarts,
        )
        body = {"metadata": {"uid": self._pod["metadata"]["uid"]}, "status": status}
        _unless_gone(
            lambda: self._kubelet.plane.ask(
                "PATCH", f"{PODS}/{self.name}/status", body, content_type=MERGE
            )
        )

    def _remove(self) -> None:
        options = {
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": self._pod["metadata"]["uid"]},
        }
        _unless_gone(lambda: self._kubelet.plane.ask("DELETE", f"{PODS}/{self.name}", options))


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _unless_gone(work: Callable[[], object]) -> None:
    """Do it; a pod that is gone, or came again under its name, needs nothing."""
    try:
        work()
    except HTTPError as fault:
        fault.close()
        if fault.code not in {404, 409}:
            raise

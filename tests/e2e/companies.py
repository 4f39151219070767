"""One workload of a chain: its members, what they say, and what operators do with it."""

import json
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.e2e.beside import Application
from tests.e2e.chain_documents import (
    CALLS,
    DOWN,
    UP,
    Identity,
    configuration,
    placed,
    scrapes,
    targets,
    workload,
)
from tests.e2e.commands import Object
from tests.e2e.grounds import Grounds, springtide
from tests.e2e.kubelets import House, Running
from tests.e2e.waiting import eventually, steadily

APPS: Final = "/apis/apps/v1/namespaces/default"
PLURALS: Final = {"StatefulSet": "statefulsets", "Deployment": "deployments"}
SLOTS: Final = 10
CALM_S: Final = 4.0
"""Several pulls, windows and looks of an autoscaler, in which nothing may happen."""
WITHOUT: Final = ("PodMonitor", "PrometheusRule")
"""Kinds of an operator that is not here."""
OTHERS: Final = (
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "PodDisruptionBudget",
    "PrometheusRule",
    "HorizontalPodAutoscaler",
)


class Company:
    """One workload: its configuration, its members, and their load."""

    def __init__(self, grounds: Grounds, identity: Identity, *, net: int) -> None:
        self.grounds = grounds
        self.identity = identity
        self.name = identity.name
        self.load = 0
        self.path = f"{APPS}/{PLURALS[identity.kind]}/{identity.name}"
        self.house = House(self._configure, self._address)
        self._net = net
        self._addresses: dict[str, str] = {}
        self._document = configuration(identity, grounds.prometheus)
        self._config = self._file("configuration", self._document)
        self._targets = grounds.folder / f"{self.name}-targets.json"
        if identity.kind == "StatefulSet":
            for ordinal in range(identity.start, identity.start + SLOTS):
                self._address(f"{self.name}-{ordinal}")

    # -- the members

    @property
    def running(self) -> dict[str, Running]:
        """Return the pods whose process runs."""
        found = dict(self.grounds.kubelet.pods)
        return {
            name: each
            for name, each in sorted(found.items())
            if name.startswith(f"{self.name}-") and each.is_running
        }

    def application(self, pod: str) -> Application:
        """Return what runs beside a member."""
        return self.grounds.kubelet.pods[pod].application

    def status(self, pod: str) -> Any:
        """Return what a member says of itself, empty while it says nothing."""
        running = self.running.get(pod)
        if running is None:
            return {}
        try:
            url = f"http://{running.address}:{CALLS}/v1/status"
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return {}

    def leader(self) -> tuple[str, Any]:
        """Return who leads and what it says."""
        for pod in self.running:
            said = self.status(pod)
            if said.get("isLeader"):
                return pod, said
        return "", {}

    def command(self, *words: str) -> str:
        """Run one of the commands of members on the leader, as an operator, and return what it prints."""
        pod, _ = eventually(self.leader, lambda found: bool(found[0]))
        url = f"http://{self.running[pod].address}:{CALLS}"
        return springtide("replicas", *words, f"--url={url}")

    def says(self, pod: str) -> str:
        """Return the load that an application shows."""
        first = next(iter(self.running), "")
        labels = f'service_instance_id="{pod}",hpa_target_api_version="apps/v1"'
        return f"rooms{{{labels}}} {self.load if pod == first else 0}\n"

    # -- the workload

    def replicas(self) -> tuple[int, int, int]:
        """Return how many replicas it should have, has, and has ready."""
        found = self.grounds.plane.ask("GET", self.path)
        status = found["status"]
        return (
            found["spec"]["replicas"],
            status.get("replicas", 0),
            status.get("readyReplicas", 0),
        )

    def settles(self, number: int, *, limit_s: float = 90.0) -> None:
        """Wait until so many pods are there, ready, and wanted."""
        eventually(self.replicas, lambda found: set(found) == {number}, limit_s=limit_s)

    def carries(self, number: int) -> None:
        """Set a load for which so many members are needed, and wait until they all serve."""
        wanted, _, _ = self.replicas()
        self.load = UP * number - UP // 10 * number if number >= wanted else DOWN * number - 20
        self.settles(number)
        eventually(self.labelled, lambda found: list(found.values()) == ["T1R1"] * number)

    def labelled(self) -> dict[str, str]:
        """Return the two labels of all pods that are not deleted."""
        last = {each.pod: each.short for each in self.grounds.watch.told(f"{self.name}-")}
        return {pod: last[pod] for pod in self.running}

    def begins(self, replicas: int, *options: str) -> None:
        """Apply what the manifest command prints and the patched workload, and wait until all serve."""
        self.apply(*options)
        plain = self._file("workload", workload(self.identity, replicas))
        patch = self._file("patch", self.prints("--patch", f"--workload={plain}", "-o", "json"))
        kubectl = self.grounds.kubectl
        whole = kubectl("patch", "--local", "-f", plain, "--patch-file", patch, "-o", "json")
        kubectl("apply", "-f", "-", text=whole)
        self.settles(replicas)
        eventually(
            self.labelled,
            lambda found: list(found.values()) == ["T1R1"] * replicas,
            limit_s=60,
        )

    def apply(self, *options: str) -> None:
        """Apply what the manifest command prints."""
        where = ("--namespace=default", f"--selector=app={self.name}")
        without = (f"--without={each}" for each in WITHOUT)
        start = (f"--ordinals-start={self.identity.start}",) if self.identity.start else ()
        text = self.prints(*where, *without, *start, "--scale-down-window=2",
                           "--scale-down-period=1", *options)  # fmt: skip
        self.grounds.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=text)

    def ends(self) -> None:
        """Delete the workload with its autoscaler, and wait until nobody is left."""
        kubectl = self.grounds.kubectl
        for each in self.running.values():
            each.application.lets_go, each.application.holds = True, False
        kubectl("delete", f"hpa/{self.name}", "--ignore-not-found")
        kubectl("delete", f"{self.identity.kind.lower()}/{self.name}", "--wait=false")
        eventually(lambda: list(self.running), lambda found: not found)

    def prints(self, *options: str) -> str:
        """Return what the manifest command prints."""
        return springtide("replicas", "manifest", f"--config={self._config}", *options)

    # -- what its pods need

    def _configure(self, pod: str, address: str, kubeconfig: str) -> Path:
        """Write the configuration of one pod."""
        path = self.grounds.folder / f"{pod}.json"
        path.write_text(json.dumps(placed(self._document, address, kubeconfig)))
        return path

    def _address(self, pod: str) -> str:
        """Return the address of a pod, and have Prometheus know it."""
        if pod not in self._addresses:
            self._addresses[pod] = f"127.{self._net}.0.{len(self._addresses) + 1}"
            self._targets.write_text(json.dumps(targets(self._addresses)))
        return self._addresses[pod]

    def scrapes(self) -> Sequence[Object]:
        """Return what has Prometheus scrape members and applications."""
        where = ("--namespace=default", f"--selector=app={self.name}", "-o", "json")
        without = (f"--without={each}" for each in OTHERS)
        printed = json.loads(self.prints(*where, *without))
        (found,) = printed.get("items", (printed,))
        return scrapes(self.identity, found, self._targets)

    def _file(self, name: str, document: object) -> str:
        path = self.grounds.folder / f"{self.name}-{name}.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)


def stays(company: Company, number: int, *, for_s: float = CALM_S) -> None:
    """Say that so many replicas are wanted for a while."""
    steadily(lambda: company.replicas()[0], lambda found: found == number, for_s=for_s)

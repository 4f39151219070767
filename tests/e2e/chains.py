"""The whole chain on one machine: members in pods, Prometheus, our adapter and guard, and native autoscalers.

What `springtide replicas manifest` prints is applied as it is, but for the kinds of monitoring, of which the
scrape configuration is made as their operator would.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.autoscaling import ACCOUNT, DEPLOY, FAST, E, Ours, S, register, serve
from tests.e2e.chain_documents import Identity
from tests.e2e.commands import Object, Setup
from tests.e2e.companies import Company
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import Aside
from tests.e2e.grounds import Grounds
from tests.e2e.kubelets import Kubelet
from tests.e2e.podwatch import watching
from tests.e2e.rights import ROOT, grant
from tests.e2e.test_replicas_guard import HOOKS, registration
from tests.tcpproxy import Line, Mode, line
from tools import kubectl as fetching

SILENCE_S: Final = 3600
"""Our node has no heartbeat."""
GUARD: Final = "system:serviceaccount:kube-system:springtide-replicas-guard"


class Chain(Grounds):
    """All of it."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        super().__init__(plane, folder)
        self.companies: dict[str, Company] = {}
        self.adapter: Ours
        self._aside: Aside
        self._line: Line

    def cut(self, *, is_cut: bool) -> None:
        """Let members reach the API server no more, or again; nobody else goes that way."""
        mode = Mode.REFUSE if is_cut else Mode.PASS
        self._aside.loop.call_soon_threadsafe(self._line.turn, mode)

    def says(self, pod: str) -> str:
        """Return the load that the application of a pod shows."""
        return self.companies[pod.partition("-")[0]].says(pod)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run everything but the workloads as long as the block."""
        with ExitStack() as stack:
            self._aside = stack.enter_context(Aside())
            opened = line(self.plane.site.ports.api)
            self._line = self._aside.done(opened.__aenter__())
            stack.callback(lambda: self._aside.done(opened.__aexit__(None, None, None)))
            houses = {name: each.house for name, each in self.companies.items()}
            url = f"https://127.0.0.1:{self._line.port}"
            self.kubelet = Kubelet(self.plane, url, houses, self.says)
            self.kubelet.register()
            stack.callback(self.kubelet.close)
            self._start_prometheus()
            self._start_adapter()
            self._start_guard()
            self.watch = stack.enter_context(watching(self.plane))
            self.watch.hears.append(self.kubelet.hear)
            yield

    def _start_prometheus(self) -> None:
        program = shutil.which("prometheus")
        assert program is not None
        scrapes = [each for company in self.companies.values() for each in company.scrapes()]
        file = self.folder / "prometheus.json"
        file.write_text(json.dumps({"scrape_configs": scrapes}))
        options = [
            f"--config.file={file}",
            f"--storage.tsdb.path={self.folder / 'samples'}",
            f"--web.listen-address={self.prometheus.removeprefix('http://')}",
        ]
        self.plane.processes.start("prometheus", [program, *options])

    def _start_adapter(self) -> None:
        own = {"refresh": "500ms", "hold": "3s", "maxAge": "10s"}
        document: Object = {
            "kind": "ReplicasAdapterConfiguration",
            "prometheus": {"url": self.prometheus},
            "metrics": [
                {"name": E, "role": "expected", **own},
                {"name": S, "role": "index", **own},
            ],
        }
        self.adapter = serve(self.plane, "adapter", document)
        register(self.plane, self.adapter.port)

    def _start_guard(self) -> None:
        document: Object = {
            "kind": "ReplicasGuardConfiguration",
            "prometheus": {"url": self.prometheus},
            "index": {"name": S, "role": "index", "refresh": "500ms", "hold": "3s"},
        }
        guard = serve(self.plane, "guard", document)
        self.plane.create(HOOKS, registration(self.plane, guard.port))


@contextmanager
def chained(planes: Planes, folder: Path, **companies: dict[str, Any]) -> Iterator[Chain]:
    """Run a chain for these workloads as long as the block; nobody in it may have found a bug."""
    if shutil.which("prometheus") is None:
        pytest.skip("There is no prometheus: install it.")
    if fetching.found() is None:
        pytest.skip(fetching.MISSING)
    found = Chain(_plane(planes), folder)
    for net, (name, more) in enumerate(companies.items(), start=21):
        found.companies[name] = Company(found, Identity(name=name, **more), net=net)
    with found.running():
        yield found
    for name in found.plane.processes.names:
        assert '"event":"bug"' not in found.plane.processes.log(name).read_text(errors="replace")


def _plane(planes: Planes) -> ControlPlane:
    """Return a plane with all its controllers, and somebody who may do anything in the namespace."""
    users = ACCOUNT | {"guard": f"guard-token,{GUARD},8"}
    found = planes(
        Setup(has_controllers=True, users=users, controller_flags=FAST, grace_s=SILENCE_S)
    )
    for name in ("adapter", "guard"):
        grant(found, DEPLOY / f"replicas-{name}" / "rbac.yaml")
    group = "rbac.authorization.k8s.io"
    role = {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": group}
    nobody = {"kind": "User", "name": "nobody", "apiGroup": group}
    body = {"metadata": {"name": "people"}, "roleRef": role, "subjects": [nobody]}
    found.create(f"{ROOT}/namespaces/default/rolebindings", body)
    return found

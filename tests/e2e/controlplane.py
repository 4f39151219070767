"""A real control plane on this machine: etcd and kube-apiserver, and if wanted controllers and scheduler.

The programs are those of `make controlplane`, or of the folder that KUBEBUILDER_ASSETS names as envtest
does. Each plane has its own folder, loopback ports and certificates, nothing is shared, and it ends with
its block or with this process.
"""

import json
import signal
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import trustme

from tests.apiserver import kubeconfig
from tests.e2e import commands
from tests.e2e.commands import Ports, Setup, Site
from tests.e2e.processes import Processes
from tools.controlplane.build import PROGRAMS, VARIABLE, found

READING: Final = PROGRAMS[:2]
MISSING: Final = f"There is no control plane: run `make controlplane`, or name one in {VARIABLE}"
START_S: Final = 90.0
ANSWER_S: Final = 30.0
ADMIN: Final = "system:masters"
# All but the first two may what roles allow them.
USERS: Final = {
    "admin": f'admin-token,admin,1,"{ADMIN}"',
    "controllers": "controllers-token,system:kube-controller-manager,2",
    "scheduler": "scheduler-token,system:kube-scheduler,3",
    "reader": "reader-token,reader,4",
    "nobody": "nobody-token,nobody,5",
}


class ControlPlane(msgspec.Struct, frozen=True, kw_only=True):
    """Where it is, whom it trusts, and what runs."""

    site: Site
    authority: trustme.CA
    trust: ssl.SSLContext
    processes: Processes

    @property
    def url(self) -> str:
        """Where the API answers."""
        return self.site.url

    @property
    def ca_pem(self) -> bytes:
        """The certificate of the authority that everything here is signed by."""
        return self.authority.cert_pem.bytes()

    def kubeconfig(self, user: str) -> str:
        """Return the kubeconfig of one of the users, or of one that nobody knows."""
        return kubeconfig(
            self.site.file(f"{user}.json"),
            self.url,
            user={"token": f"{user}-token"},
            cluster={"certificate-authority": str(self.site.file("ca.pem"))},
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        content_type: str = "application/json",
    ) -> Any:
        """Return what the API answers to the administrator; raises HTTPError for a refusal."""
        headers = {"Authorization": "Bearer admin-token", "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.url}{path}", data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, context=self.trust, timeout=ANSWER_S) as response:
            text = response.read()
        return json.loads(text) if text.startswith(b"{") else text.decode()

    def create(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create an object as the administrator."""
        return self.ask("POST", path, body)

    def stop(self, name: str, *, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop one of the programs, by default as an operator would."""
        self.processes.stop(name, how=how)

    def start(self, name: str) -> None:
        """Start one of the programs again, and wait until it is ready."""
        self.processes.again(name)
        self._wait(name)

    def run(self, name: str, command: list[str]) -> None:
        """Start one of the programs, and wait until it is ready."""
        self.processes.start(name, command)
        self._wait(name)

    def _wait(self, name: str) -> None:
        probe, trust = _probe(self.site, name), self.trust
        self.processes.wait_until(
            lambda: _is_good(probe, trust), "ready", name=name, limit_s=START_S
        )


def assets() -> Path | None:
    """Return the folder with etcd and kube-apiserver, None if there is none."""
    return found(READING)


def all_programs() -> Path | None:
    """Return the folder with all four programs, None if there is none."""
    return found()


@contextmanager
def control_plane(
    programs: Path, folder: Path, setup: Setup | None = None
) -> Iterator[ControlPlane]:
    """Run a control plane as long as the block; it is ready when the block begins."""
    wanted = setup or Setup()
    site = Site(programs=programs, folder=folder, ports=_ports())
    authority = trustme.CA()
    _write_certificates(site, authority)
    tokens = [*USERS.values(), *wanted.users.values()]
    site.file("tokens.csv").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    trust = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
    with Processes(folder / "logs") as processes:
        plane = ControlPlane(site=site, authority=authority, trust=trust, processes=processes)
        _start(plane, wanted)
        yield plane


def _start(plane: ControlPlane, setup: Setup) -> None:
    site = plane.site
    plane.run("etcd", commands.etcd(site))
    plane.run("kube-apiserver", commands.api_server(site, setup))
    if setup.has_controllers:
        for user in ("controllers", "scheduler"):
            plane.kubeconfig(user)
        commands.write_scheduler_configuration(site, setup)
        plane.run("kube-controller-manager", commands.controller_manager(site, setup))
        plane.run("kube-scheduler", commands.scheduler(site))


def _write_certificates(site: Site, authority: trustme.CA) -> None:
    """Write a certificate for servers, and one for the front proxy by an authority of its own."""
    authority.cert_pem.write_to_path(str(site.file("ca.pem")))
    _write_pair(site, "tls", authority.issue_cert("127.0.0.1", "localhost"))
    front = trustme.CA()
    front.cert_pem.write_to_path(str(site.file("front-ca.pem")))
    _write_pair(site, "front", front.issue_cert("front", common_name="front-proxy-client"))


def _write_pair(site: Site, name: str, pair: trustme.LeafCert) -> None:
    pair.cert_chain_pems[0].write_to_path(str(site.file(f"{name}.pem")))
    pair.private_key_pem.write_to_path(str(site.file(f"{name}.key")))


def _probe(site: Site, name: str) -> str:
    """Return the address that answers well once a program is ready."""
    ports = site.ports
    return {
        "etcd": f"{site.etcd_url}/readyz",
        "kube-apiserver": f"{site.url}/readyz",
        "kube-controller-manager": f"https://127.0.0.1:{ports.controllers}/healthz",
        "kube-scheduler": f"https://127.0.0.1:{ports.scheduler}/readyz",
    }[name]


def _is_good(url: str, trust: ssl.SSLContext) -> bool:
    try:
        with urllib.request.urlopen(
            url, context=trust if url.startswith("https") else None, timeout=ANSWER_S
        ) as response:
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _ports() -> Ports:
    """Return ports that nobody listens on, a moment ago at least."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in Ports.__struct_fields__]
    numbers = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return Ports(**dict(zip(Ports.__struct_fields__, numbers, strict=True)))

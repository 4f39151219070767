"""A real kube-apiserver with its etcd, from the folder that KUBEBUILDER_ASSETS names, as envtest has it."""

import json
import os
import socket
import ssl
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import trustme

from tests.apiserver import kubeconfig

VARIABLE: Final = "KUBEBUILDER_ASSETS"
READY: Final = ("Serving securely", "serving client traffic insecurely")
START_S: Final = 60.0
USERS: Final = {
    "admin": 'admin-token,admin,1,"system:masters"',
    "reader": "reader-token,reader,2",
    "nobody": "nobody-token,nobody,3",
}


class ControlPlane(msgspec.Struct, frozen=True, kw_only=True):
    """Where it is, and whom it trusts."""

    url: str
    folder: Path
    trust: ssl.SSLContext

    def kubeconfig(self, user: str) -> str:
        """Return the kubeconfig of one of the users, or of one that nobody knows."""
        return kubeconfig(
            self.folder / f"{user}.json",
            self.url,
            user={"token": f"{user}-token"},
            cluster={"certificate-authority": "ca.pem"},
        )

    def create(self, path: str, body: dict[str, Any]) -> None:
        """Create an object as the administrator."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=json.dumps(body).encode(),
            headers={"Authorization": "Bearer admin-token", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, context=self.trust) as response:
            assert response.status == 201


def assets() -> Path | None:
    """Return the folder with both programs, None if there is none."""
    folder = Path(os.environ.get(VARIABLE, ""))
    names = ("etcd", "kube-apiserver")
    return folder if all((folder / name).is_file() for name in names) else None


@contextmanager
def control_plane(programs: Path, folder: Path) -> Iterator[ControlPlane]:
    """Run both programs as long as the block."""
    authority = trustme.CA()
    pair = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    pair.cert_chain_pems[0].write_to_path(str(folder / "tls.pem"))
    pair.private_key_pem.write_to_path(str(folder / "tls.key"))
    (folder / "tokens.csv").write_text("\n".join(USERS.values()) + "\n", encoding="utf-8")
    trust = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
    client, peer, port = _ports(3)
    etcd = f"http://127.0.0.1:{client}"
    with (
        _running(_etcd(programs, folder, etcd, peer)),
        _running(_api_server(programs, folder, etcd, port)),
    ):
        yield ControlPlane(url=f"https://127.0.0.1:{port}", folder=folder, trust=trust)


def _etcd(programs: Path, folder: Path, url: str, peer: int) -> list[str]:
    peers = f"http://127.0.0.1:{peer}"
    return [
        str(programs / "etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
    ]


def _api_server(programs: Path, folder: Path, etcd: str, port: int) -> list[str]:
    return [
        str(programs / "kube-apiserver"),
        f"--etcd-servers={etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder}",
        f"--tls-cert-file={folder / 'tls.pem'}",
        f"--tls-private-key-file={folder / 'tls.key'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://127.0.0.1/",
        f"--service-account-key-file={folder / 'tls.key'}",
        f"--service-account-signing-key-file={folder / 'tls.key'}",
        # Nobody makes service accounts here, and nobody would take the taint off again.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
    ]


@contextmanager
def _running(command: list[str]) -> Iterator[None]:
    is_ready = threading.Event()
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:

        def listen() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line.decode(errors="replace"))
                if any(text in lines[-1] for text in READY):
                    is_ready.set()
            is_ready.set()

        listening = threading.Thread(target=listen)
        listening.start()
        try:
            assert is_ready.wait(START_S), "".join(lines[-20:])
            assert process.poll() is None, "".join(lines[-20:])
            yield
        finally:
            process.terminate()
            process.wait()
            listening.join()


def _ports(count: int) -> list[int]:
    """Return ports that nobody listens on, a moment ago at least."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports

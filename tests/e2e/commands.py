"""How the programs of a control plane are called, and the files that they are given."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

Object = dict[str, Any]

CLIENT_QPS: Final = 2000
CLIENT_BURST: Final = 4000


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """Where everybody listens on the loopback address."""

    etcd: int
    peer: int
    api: int
    controllers: int
    scheduler: int


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What a control plane is to be like.

    `has_controllers` runs the controller manager and the scheduler, too. `extenders` and `profiles` are
    fields of the scheduler's configuration. A node whose kubelet is silent for `grace_s` is not ready.
    `api_flags` and `controller_flags` come last and so win, and `users` are added to those that there always are.
    """

    has_controllers: bool = False
    extenders: Sequence[Object] = ()
    profiles: Sequence[Object] = ()
    grace_s: int = 40
    api_flags: Sequence[str] = ()
    controller_flags: Sequence[str] = ()
    users: Mapping[str, str] = {}


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The programs, the folder that their files lie in, and their ports."""

    programs: Path
    folder: Path
    ports: Ports

    @property
    def etcd_url(self) -> str:
        """Where the store answers."""
        return f"http://127.0.0.1:{self.ports.etcd}"

    @property
    def url(self) -> str:
        """Where the API answers."""
        return f"https://127.0.0.1:{self.ports.api}"

    def program(self, name: str) -> str:
        """The path of a program."""
        return str(self.programs / name)

    def file(self, name: str) -> Path:
        """The path of a file of ours."""
        return self.folder / name


def etcd(site: Site) -> list[str]:
    """The store, which does not wait for the disk."""
    peers = f"http://127.0.0.1:{site.ports.peer}"
    return [
        site.program("etcd"),
        f"--data-dir={site.file('etcd')}",
        f"--listen-client-urls={site.etcd_url}",
        f"--advertise-client-urls={site.etcd_url}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--log-level=warn",
        "--unsafe-no-fsync",
    ]


def api_server(site: Site, setup: Setup) -> list[str]:
    """The API, with webhooks and whatever stands behind its front proxy."""
    # Nobody waits here until a new namespace has its account.
    disabled = ["ServiceAccount"]
    if not setup.has_controllers:
        # Nobody would take the taint off again.
        disabled.append("TaintNodesByCondition")
    return [
        site.program("kube-apiserver"),
        f"--etcd-servers={site.etcd_url}",
        "--bind-address=127.0.0.1",
        f"--secure-port={site.ports.api}",
        f"--cert-dir={site.folder}",
        *_serving(site),
        f"--client-ca-file={site.file('ca.pem')}",
        f"--token-auth-file={site.file('tokens.csv')}",
        "--authorization-mode=Node,RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://127.0.0.1/",
        f"--service-account-key-file={site.file('tls.key')}",
        f"--service-account-signing-key-file={site.file('tls.key')}",
        f"--disable-admission-plugins={','.join(disabled)}",
        # Who watches is sent away, and does not keep a server from stopping.
        "--shutdown-watch-termination-grace-period=1s",
        *_front_proxy(site),
        *setup.api_flags,
    ]


def controller_manager(site: Site, setup: Setup) -> list[str]:
    """The controllers, quick to see that a node is silent."""
    return [
        site.program("kube-controller-manager"),
        f"--kubeconfig={site.file('controllers.json')}",
        "--bind-address=127.0.0.1",
        f"--secure-port={site.ports.controllers}",
        *_serving(site),
        f"--root-ca-file={site.file('ca.pem')}",
        f"--service-account-private-key-file={site.file('tls.key')}",
        # Roles are made for each controller, not for all of them.
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--node-monitor-period=1s",
        f"--node-monitor-grace-period={setup.grace_s}s",
        f"--kube-api-qps={CLIENT_QPS}",
        f"--kube-api-burst={CLIENT_BURST}",
        *setup.controller_flags,
    ]


def scheduler(site: Site) -> list[str]:
    """The scheduler; what it is to do stands in its configuration."""
    return [
        site.program("kube-scheduler"),
        f"--config={site.file('scheduler-config.json')}",
        "--bind-address=127.0.0.1",
        f"--secure-port={site.ports.scheduler}",
        *_serving(site),
    ]


def write_scheduler_configuration(site: Site, setup: Setup) -> None:
    """Writes the configuration of the scheduler."""
    document: Object = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            "kubeconfig": str(site.file("scheduler.json")),
            "qps": CLIENT_QPS,
            "burst": CLIENT_BURST,
        },
        "leaderElection": {"leaderElect": False},
    }
    for key, listed in (("extenders", setup.extenders), ("profiles", setup.profiles)):
        if listed:
            document[key] = list(listed)
    site.file("scheduler-config.json").write_text(json.dumps(document), encoding="utf-8")


def _serving(site: Site) -> list[str]:
    return [
        f"--tls-cert-file={site.file('tls.pem')}",
        f"--tls-private-key-file={site.file('tls.key')}",
    ]


def _front_proxy(site: Site) -> list[str]:
    """How the server shows who it is to APIs behind it; only those of external names are reached."""
    return [
        f"--requestheader-client-ca-file={site.file('front-ca.pem')}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={site.file('front.pem')}",
        f"--proxy-client-key-file={site.file('front.key')}",
    ]

"""Many nodes and many pods at once, for what is about numbers: created from several threads, nothing kept alive."""

import asyncio
import json
import re
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

from springtide.edge.kube import Access, KubeCluster, Waiting, connect
from springtide.edge.machine import MachineClock, SeededRng
from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import Aside
from tests.e2e.objects import NODES
from tests.e2e.waiting import eventually
from tests.standin.bodies import node_object
from tests.standin.live import gpu_node, now
from tests.standin.plugin import due

PATIENT_S: Final = 3_600
"""The grace of nodes that nobody keeps alive."""
THREADS: Final = 4
_CREATED: Final = 201
_SAMPLE: Final = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


def create_nodes(plane: ControlPlane, count: int) -> None:
    """Create nodes with eight cards that are registered already, and wait until pods may go there."""
    create_all(plane, NODES, [_node(f"node-{number:04}") for number in range(count)])
    eventually(lambda: _tainted(plane), lambda found: found == 0)


def create_all(plane: ControlPlane, path: str, bodies: Sequence[Object]) -> None:
    """Create objects from several threads, each with a connection of its own."""
    left = iter([json.dumps(each).encode() for each in bodies])
    faults: list[bytes] = []
    turn = threading.Lock()

    def work() -> None:
        address = urlsplit(plane.url)
        assert address.hostname is not None
        connection = HTTPSConnection(address.hostname, address.port, context=plane.trust)
        headers = {"Authorization": "Bearer admin-token", "Content-Type": "application/json"}
        while True:
            with turn:
                body = next(left, None)
            if body is None:
                break
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != _CREATED:
                faults.append(text)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not faults, faults[0]


@contextmanager
def a_cluster(plane: ControlPlane) -> Iterator[tuple[KubeCluster, Aside]]:
    """Connect as the administrator, with an event loop beside this thread."""
    with Aside() as aside:
        connection = aside.done(connect(Access(kubeconfig=plane.kubeconfig("admin"))))
        waiting = Waiting(clock=MachineClock(), rng=SeededRng(1), pause=asyncio.sleep)
        try:
            yield KubeCluster(connection, waiting=waiting), aside
        finally:
            aside.done(connection.__aexit__(None, None, None))


def metrics(port: int) -> dict[str, float]:
    """Return what the extender on a port says of itself, by name with labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return samples(answer.read().decode())


def samples(text: str) -> dict[str, float]:
    """Return what metrics say, by name with labels."""
    return {
        f"{name}{{{labels}}}" if labels else name: float(value)
        for name, labels, value in _SAMPLE.findall(text)
    }


def _node(name: str) -> Object:
    fake = gpu_node(name)
    made = node_object(fake, when=now())
    made["metadata"]["annotations"] = due(fake.devices, {}, when="")
    return made


def _tainted(plane: ControlPlane) -> int:
    """Return how many nodes take no pods yet."""
    listed = plane.ask("GET", NODES)["items"]
    return sum(bool(each["spec"].get("taints")) for each in listed)

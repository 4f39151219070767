"""The site on a real kube-apiserver over a real etcd, each scene in a namespace of its own.

One server serves all scenes of a run, and ends with it; it is really stopped where a scene wants that.
"""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from springtide.edge.kube import Access, connect
from springtide.edge.kube.transport import Transport
from springtide.edge.machine import MachineClock
from tests.contract.kubesites import InKubernetes
from tests.contract.stores import Traits, World
from tests.e2e.controlplane import MISSING, ControlPlane, assets, control_plane

PROGRAMS: Final = assets()
SERVER: Final = "kube-apiserver"


class Shared:
    """The server, started when it is first wanted."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._plane: ControlPlane | None = None
        self._numbers = itertools.count(1)

    def namespace(self) -> tuple[ControlPlane, str]:
        """Return the server, and a namespace that nobody has used."""
        if self._plane is None:
            assert PROGRAMS is not None
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            self._plane = self._stack.enter_context(control_plane(PROGRAMS, folder))
        name = f"scene-{next(self._numbers)}"
        self._plane.create("/api/v1/namespaces", {"metadata": {"name": name}})
        return self._plane, name

    def close(self) -> None:
        """End the server."""
        self._plane = None
        self._stack.close()


SHARED: Final = Shared()


class OnServer(InKubernetes):
    """A site on the server."""

    def __init__(self, transport: Transport, plane: ControlPlane, namespace: str) -> None:
        self._plane = plane
        super().__init__(
            transport,
            namespace=namespace,
            clock=MachineClock(),
            traits=Traits(
                patience_s=40.0,
                member_ttl_s=1.0,
                lock_ttl_ms=3_000,
                confirm_s=4.0,
                has_leases=False,
            ),
        )

    async def stop(self) -> None:
        """Stop the server."""
        await asyncio.to_thread(self._plane.stop, SERVER)

    async def start(self) -> None:
        """Start it again."""
        await asyncio.to_thread(self._plane.start, SERVER)

    async def compact(self) -> bool:
        """Return that a server forgets by itself, and when it likes."""
        return False


@asynccontextmanager
async def _site(_: Path) -> AsyncIterator[OnServer]:
    plane, namespace = await asyncio.to_thread(SHARED.namespace)
    access = Access(kubeconfig=plane.kubeconfig("admin"), timeout_s=10.0)
    async with await connect(access) as connection:
        yield OnServer(connection, plane, namespace)


REAL_KUBERNETES = World(
    name="real kubernetes",
    site=_site,
    run=asyncio.run,
    missing="" if PROGRAMS is not None else MISSING,
)

"""A simulation's server on loopback with certificates of its own, and callers that are known or not."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import trustme

from springtide.apps import simulation
from springtide.apps.planner.families import Policies
from springtide.apps.simulation import Access, Limits, Settings
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.serving import CertificateFiles, Certificates, Listener, listening
from springtide.engine.simulation.bounds import Bounds
from springtide.model.profile import DeviceProfile
from tests.loopback import Answer, Told, call

Json = dict[str, Any]

CLIENT = "autoscaler"
OTHER = "planner"
SETTINGS = Settings(access=Access(identities=frozenset({CLIENT, OTHER})))


class Papers:
    """An authority, the server's certificate from it, and those of clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self.files = CertificateFiles(
            certificate=str(folder / "tls.crt"),
            key=str(folder / "tls.key"),
            client_authorities=str(folder / "clients.crt"),
        )
        made = self.authority.issue_cert("localhost", "127.0.0.1")
        made.private_key_pem.write_to_path(self.files.key)
        made.cert_chain_pems[0].write_to_path(self.files.certificate)
        self.authority.cert_pem.write_to_path(self.files.client_authorities)

    def anonymous(self) -> ssl.SSLContext:
        """Return what somebody calls with who shows nothing."""
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context

    def of(
        self,
        name: str,
        *sans: str,
        authority: trustme.CA | None = None,
        expired: bool = False,
    ) -> ssl.SSLContext:
        """Return what somebody calls with who has this common name."""
        context = self.anonymous()
        issuer = authority or self.authority
        ends = datetime(2001, 1, 1, tzinfo=UTC) if expired else None
        issuer.issue_cert(
            *(sans or (f"{name}.example",)), common_name=name, not_after=ends
        ).configure_cert(context)
        return context

    def written(self, name: str) -> tuple[str, str, str]:
        """Write a client's certificate; return its path, that of its key, and of the authority."""
        made = self.authority.issue_cert(f"{name}.example", common_name=name)
        paths = tuple(str(self.folder / f"{name}.{end}") for end in ("crt", "key"))
        made.cert_chain_pems[0].write_to_path(paths[0])
        made.private_key_pem.write_to_path(paths[1])
        return paths[0], paths[1], self.files.client_authorities


class Simulator:
    """A server that runs, and calls to it."""

    def __init__(
        self, process: simulation.Process, where: simulation.Where, papers: Papers, log: Told
    ) -> None:
        self.process = process
        self.where = where
        self.papers = papers
        self.log = log
        self.client = papers.of(CLIENT)
        self._operations = count()

    @property
    def listener(self) -> Listener:
        """Return where it listens."""
        return self.where.calls

    @property
    def url(self) -> str:
        """Return its address."""
        return f"https://localhost:{self.listener.port}"

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        tls: ssl.SSLContext | None = None,
        extra: str = "",
    ) -> Answer:
        """Make one call, as the usual client unless another is given."""
        data = body if isinstance(body, bytes | None) else msgspec.json.encode(body)
        return await call(self.listener, method, path, data, extra=extra, tls=tls or self.client)

    async def say(self, method: str, path: str, body: object = None, **options: Any) -> Json:
        """Return what a call is answered, which must be a success."""
        answer = await self.ask(method, path, body, **options)
        assert answer.status < 300, answer
        found: Json = msgspec.json.decode(answer.body)
        return found

    async def opened(self, *nodes: Json, **options: Any) -> str:
        """Open a session on nodes and return its id."""
        answer = await self.say(
            "POST", "/v1/sessions", {"operationId": self.operation(), "nodes": nodes}, **options
        )
        name: str = answer["id"]
        return name

    def operation(self) -> str:
        """Return an id that was not used yet."""
        return f"operation-{next(self._operations)}"

    async def metrics(self) -> str:
        """Return the metrics."""
        return (await self.ask("GET", "/metrics")).body.decode()


@asynccontextmanager
async def simulator(
    folder: Path,
    *,
    settings: Settings = SETTINGS,
    profiles: tuple[DeviceProfile, ...] = (),
    follow: simulation.Follow | None = None,
    review: simulation.Review | None = None,
    papers: Papers | None = None,
    pages: bool = False,
) -> AsyncIterator[Simulator]:
    """Run a server while the block is entered."""
    papers = papers or Papers(folder)
    log, stop, numbers = Told(), asyncio.Event(), count()
    where = simulation.Where(
        calls=listening("127.0.0.1:0"),
        certificates=Certificates(papers.files),
        pages=listening("127.0.0.1:0") if pages else None,
    )
    process = simulation.Process(
        simulation.rule_maker(None, Policies(), node_selector={}, bounds=settings.bounds),
        settings=settings,
        times=simulation.Times(MachineClock(), MachineCalendar()),
        make_name=lambda: f"session-{next(numbers)}",
        log=log,
        review=review,
    )
    running = asyncio.create_task(process.run(where, stop, profiles=profiles, follow=follow))
    try:
        if follow is None:
            await process.ready.wait()
        yield Simulator(process, where, papers, log)
    finally:
        stop.set()
        await running


def limited(
    *, bounds: Bounds | None = None, access: Access | None = None, **limits: Any
) -> Settings:
    """Return settings with other limits."""
    return Settings(
        access=access or SETTINGS.access, limits=Limits(**limits), bounds=bounds or Bounds()
    )

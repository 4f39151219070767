"""A guard that runs over a stand-in API server and Prometheus, called over TLS on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from springtide.apps.adapter import Endpoints, Served, Times
from springtide.apps.guard import Deadlines, Process, Settings
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.serving import Certificates, listening
from tests.adapting import INDEX, Authority, Pki
from tests.loopback import Told, call
from tests.promapi import PromApi
from tests.running import until

MARK: Final = "springtide.io/guard-replicas"
GUARDED: Final = Settings(
    index=Served(metric=INDEX),
    mark=MARK,
    users=frozenset({"operator"}),
    groups=frozenset({"system:masters"}),
    deadlines=Deadlines(drain_s=1.0),
)


def workload(
    authority: Authority,
    name: str,
    *,
    replicas: int,
    marks: dict[str, Any] | None = None,
    resource: str = "statefulsets",
) -> None:
    """Let the cluster have a workload whose pods all run; it is marked unless told."""
    path = f"/apis/apps/v1/namespaces/game/{resource}/{name}"
    given = {"annotations": {MARK: "true"}} if marks is None else marks
    authority.scales[path] = {"metadata": given, "spec": {"replicas": replicas}}
    status = {"replicas": replicas, "selector": f"app={name}"}
    authority.scales[f"{path}/scale"] = {"spec": {"replicas": replicas}, "status": status}


class Standing:
    """A guard that runs, and reviews that it is asked for."""

    def __init__(self, endpoints: Endpoints, log: Told, pki: Pki) -> None:
        assert endpoints.pages is not None
        self.calls = endpoints.calls
        self.pages = endpoints.pages
        self.log = log
        self.pki = pki

    async def review(self, data: bytes) -> tuple[bool, str]:
        """Return whether a change may be, and what is said of it."""
        answer = await call(self.calls, "POST", "/validate", data, tls=self.pki.stranger())
        assert answer.status == 200
        response = json.loads(answer.body)["response"]
        return response["allowed"], response.get("status", {}).get("message", "")

    async def reason(self, data: bytes) -> str:
        """Return the reason of a refusal, empty if there is none."""
        is_allowed, message = await self.review(data)
        assert is_allowed == (not message)
        return message.partition(":")[0]

    async def page(self, path: str) -> tuple[int, str]:
        """Return what a probe or a monitor is shown."""
        answer = await call(self.pages, "GET", path)
        return answer.status, answer.body.decode()


@asynccontextmanager
async def guarding(
    folder: Path, authority: Authority, prometheus: PromApi, *, settings: Settings = GUARDED
) -> AsyncIterator[Standing]:
    """Run a guard while the block is entered; it must have found no bug."""
    log, pki, stop = Told(), Pki(folder, authority), asyncio.Event()
    calls, pages = listening("127.0.0.1:0"), listening("127.0.0.1:0")
    async with Prometheus(Access(url=prometheus.url)) as client:
        process = Process(
            authority,
            client,
            settings=settings,
            times=Times(MachineClock(), MachineCalendar()),
            log=log,
            renewal_s=0.01,
        )
        endpoints = Endpoints(calls=calls, certificates=Certificates(pki.files), pages=pages)
        task = asyncio.create_task(process.run(endpoints, stop))
        try:
            await until(lambda: bool(log.of("serving")) or task.done())
            yield Standing(endpoints, log, pki)
        finally:
            stop.set()
            try:
                await task
            finally:
                calls.socket.close()
                pages.socket.close()
    assert not log.of("bug"), log.of("bug")

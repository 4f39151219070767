"""One member as a process: `python -m examples.rooms.process --index 3 --disk DIR --store URL`.

It says where it listens in the first line that it prints, and ends drained at SIGTERM.

    POST /rooms            {"people": 3}          opens a room
    POST /rooms/NAME       {"text": "hello"}      says something there
    GET  /rooms/NAME                              shows it
    GET  /metrics, /state                         for Prometheus, and for whoever runs the members
    POST /ask, /switches                          for other members, and for whoever breaks them
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypeVar

import aiohttp
import msgspec
from aiohttp import web

from examples.rooms.calling import HttpPeers
from examples.rooms.crowded import Crowded
from examples.rooms.journal import FileJournal
from examples.rooms.member import Member
from examples.rooms.messages import Answer, Later, Look, Message, NotFound, Open, Say, Shown
from examples.rooms.remote import RemoteStore
from examples.rooms.settings import ETCD, MEMBER_TTL_S, name_of, settings
from examples.rooms.state import State, state_of
from examples.rooms.switches import SwitchedCalendar, SwitchedMetrics, SwitchedPeers, Switches
from examples.rooms.world import World
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, SeededRng
from springtide.edge.store import Store
from springtide.edge.store.etcd import EtcdAccess, EtcdStore, Pace
from springtide.replicas import Identity
from springtide.replicas.exporting import Exported
from springtide.replicas.forwarding import HOPS_HEADER, hops_of
from springtide.replicas.observing import Observers
from springtide.replicas.registering import page, registry_of

HOST: Final = "127.0.0.1"
PACE: Final = Pace(member_ttl_s=MEMBER_TTL_S, confirm_s=2.0)
T = TypeVar("T")
_CODES: Final[dict[type, int]] = {Shown: 200, NotFound: 404, Later: 503}


class Served:
    """The HTTP of one member."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches
        self._asked: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
        self.member: Member | None = None
        self.page: Callable[[], bytes] = bytes

    def application(self) -> web.Application:
        """Return the routes."""
        application = web.Application()
        application.add_routes(
            [
                web.post("/ask", self._ask),
                web.post("/rooms", self._open),
                web.post("/rooms/{room}", self._say),
                web.get("/rooms/{room}", self._look),
                web.get("/metrics", self._metrics),
                web.get("/state", self._state),
                web.post("/switches", self._switch),
            ]
        )
        return application

    async def _ask(self, request: web.Request) -> web.Response:
        if self.member is None or self._switches.cut_peers:
            return web.Response(status=503)
        answer = await self.member.answer(self._asked.decode(await request.read()))
        return web.Response(body=msgspec.json.encode(answer), content_type="application/json")

    async def _open(self, request: web.Request) -> web.Response:
        asked = await _read(request, Open)
        return await self._user(request, asked)

    async def _say(self, request: web.Request) -> web.Response:
        asked = await _read(request, Say, room=request.match_info["room"])
        return await self._user(request, asked)

    async def _look(self, request: web.Request) -> web.Response:
        return await self._user(request, Look(room=request.match_info["room"]))

    async def _user(self, request: web.Request, asked: Open | Say | Look) -> web.Response:
        if self.member is None:
            return web.Response(status=503)
        hops = hops_of(request.headers.get(HOPS_HEADER))
        answer = await self.member.answer(msgspec.structs.replace(asked, hops=hops))
        return web.Response(
            body=msgspec.json.encode(answer),
            content_type="application/json",
            status=_CODES[type(answer)],
            headers=_retry(answer),
        )

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=self.page(), content_type="text/plain")

    async def _state(self, _request: web.Request) -> web.Response:
        if self.member is None:
            return web.Response(status=503)
        found: State = state_of(self.member)
        return web.Response(body=msgspec.json.encode(found), content_type="application/json")

    async def _switch(self, request: web.Request) -> web.Response:
        wanted = msgspec.json.decode(await request.read(), type=Switches)
        self._switches.cut_peers = wanted.cut_peers
        self._switches.cut_prometheus = wanted.cut_prometheus
        self._switches.clock_offset_s = wanted.clock_offset_s
        return web.Response()


async def _read(request: web.Request, kind: type[T], **known: str) -> T:
    """Return what a user asks for; a body that is none of it is answered with 400 and why."""
    try:
        body = msgspec.json.decode(await request.read() or b"{}", type=dict[str, object])
        return msgspec.convert({**body, **known, "type": kind.__name__}, kind)
    except msgspec.MsgspecError as fault:
        raise web.HTTPBadRequest(text=f"{fault}\n") from fault


def _retry(answer: Answer) -> dict[str, str]:
    return {"Retry-After": str(answer.retry_after_s)} if isinstance(answer, Later) else {}


async def serve(asked: argparse.Namespace) -> None:
    """Be a member until SIGTERM."""
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with AsyncExitStack() as stack:
        switches = Switches()
        served = Served(switches)
        runner = web.AppRunner(served.application(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, HOST, asked.port).start()
        address = f"{HOST}:{runner.addresses[0][1]}"
        served.member = await _member(asked, address, switches, served, stack)
        print(address, flush=True)  # noqa: T201 - whoever started it waits for this line
        await told.wait()
        await served.member.leave(timeout_s=asked.grace)


async def _member(
    asked: argparse.Namespace,
    address: str,
    switches: Switches,
    served: Served,
    stack: AsyncExitStack,
) -> Member:
    name = name_of(asked.index)
    clock, found = MachineClock(), settings(asked.pace, members_max=asked.members_max)
    calendar = SwitchedCalendar(MachineCalendar(), switches)
    peers = SwitchedPeers(await stack.enter_async_context(HttpPeers()), switches)
    session = await stack.enter_async_context(aiohttp.ClientSession())
    holder: list[Member] = []
    crowded = Crowded(peers, lambda: holder[0].controller.snapshot().members, MachineCalendar())
    store: Store
    if asked.store.startswith(ETCD):
        access = EtcdAccess(endpoints=(asked.store.removeprefix(ETCD),), pace=PACE)
        store = EtcdStore(access, found.workload, rng=SeededRng(asked.index))
        await stack.enter_async_context(store)
    else:
        store = RemoteStore(session, asked.store, name, clock=clock, replicas=asked.replicas)
    world = World(
        store=store,
        clock=clock,
        calendar=calendar,
        log=JsonLines(calendar),
        journal=FileJournal(Path(asked.disk) / f"{name}.jsonl"),
        peers=peers,
        metrics=SwitchedMetrics(crowded, switches),
    )
    identity = Identity(name=name, index=asked.index, service="rooms", address=address)
    member = Member(identity, found, world)
    holder.append(member)
    exported = Exported(
        member.controller.snapshot, found, observers=Observers(clock), load=None, calendar=calendar
    )
    registry = registry_of(exported)
    served.page = lambda: page(registry)
    await member.start()
    return member


def options() -> argparse.ArgumentParser:
    """Return what a member takes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--index", type=int, required=True, help="its number, counted from one")
    parser.add_argument("--disk", required=True, help="the folder of the journals")
    parser.add_argument(
        "--store", required=True, help=f"where members meet, an URL; {ETCD}URL for an etcd"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pace", type=float, default=1.0, help="shortens all times")
    parser.add_argument("--members-max", type=int, default=12)
    parser.add_argument("--replicas", type=int, default=1, help="how many members there are now")
    parser.add_argument("--grace", type=float, default=60.0, help="seconds to drain in")
    return parser


if __name__ == "__main__":
    asyncio.run(serve(options().parse_args()))
    sys.exit(0)

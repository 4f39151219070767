"""The client asks a real server over TLS: both kinds of it, with sessions, problems and tries."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from springtide.apps.simulation import Access
from springtide.client import (
    AsyncClient,
    Client,
    Denied,
    Invalid,
    Overloaded,
    RevisionMoved,
    Server,
    Session,
    SessionGone,
    SimulationFault,
    TimedOut,
    Unreachable,
    copies_of,
)
from springtide.client.calls import Answer, Call, looking
from springtide.client.trying import Outcome, Send, Wait, trying
from springtide.wire.simulation.calls import EstimateRules
from tests.running import run
from tests.simulating import A10, Json, node, pod
from tests.simulators import CLIENT, Simulator, limited, simulator

T = TypeVar("T")


def reached(server: Simulator, name: str = CLIENT, *, tries_max: int = 3) -> Server:
    """Return how a client of this name reaches a server."""
    certificate, key, authority = server.papers.written(name)
    return Server(
        url=server.url,
        ca_file=authority,
        cert_file=certificate,
        key_file=key,
        tries_max=tries_max,
    )


async def waiting(server: Server, work: Callable[[Client], T]) -> T:
    """Return what a client gets that waits, in a thread so that the server goes on."""

    def done() -> T:
        with Client(server) as client:
            return work(client)

    return await asyncio.to_thread(done)


def named(name: str, gpumem: int = 20000) -> Json:
    """Return a pod with this uid."""
    made = pod(name, gpu=1, gpumem=gpumem)
    made["metadata"]["uid"] = name
    return made


def test_a_filter_call_is_answered_with_records(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            answer = await waiting(
                reached(server), lambda client: client.filter(pod(), [node("t", A10), node("u")])
            )

            assert answer.failed_and_unresolvable_nodes == {"u": "node unregistered"}
            assert list(answer.allocations) == ["t"]

    run(work())


def test_an_estimate_is_answered(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            answer = await waiting(
                reached(server),
                lambda client: client.estimate(
                    [node("t", A10)], [(named("p"), 3)], rules=EstimateRules.DEVICES
                ),
            )

            assert answer.estimates[0].nodes == 3

    run(work())


def test_a_session_takes_back_what_was_not_committed_and_ends_with_its_block(
    tmp_path: Path,
) -> None:
    def what_if(client: Client) -> tuple[list[str], list[str], str]:
        with client.session([node("t", A10)], copies=[copies_of(node("c", A10), 2)]) as session:
            with session.fork():
                assert session.place([(named("a"), "t")]).results[0].placed
                assert session.evaluate([named("b")])[0].feasible == ("c-0", "c-1")
            with session.fork():
                session.place([(named("c"), "t")])
                session.commit()
            session.add([node("more", A10)])
            session.remove_nodes(["c-0"])
            placed = [p.uid for each in session.content() for p in each.pods]
            gone = [each.uid for each in session.remove(["c"]).removed]
            return placed, gone, session.id

    async def work() -> None:
        async with simulator(tmp_path) as server:
            placed, gone, name = await waiting(reached(server), what_if)
            after = await server.ask("GET", f"/v1/sessions/{name}")

            assert placed == gone == ["c"]
            assert after.status == 410

    run(work())


def test_what_was_done_when_something_goes_wrong_is_taken_back(tmp_path: Path) -> None:
    def spoil(session: Session) -> None:
        with session.fork():
            session.place([(named("a"), "t")])
            raise ZeroDivisionError

    def what_if(client: Client) -> int:
        with client.session([node("t", A10)]) as session:
            with pytest.raises(ZeroDivisionError):
                spoil(session)
            return sum(len(each.pods) for each in session.content())

    async def work() -> None:
        async with simulator(tmp_path) as server:
            assert await waiting(reached(server), what_if) == 0

    run(work())


def test_who_does_not_wait_gets_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server, AsyncClient(reached(server)) as client:
            filtered = await client.filter(pod(), [node("u")])
            estimated = await client.estimate(
                [node("t", A10)], [(named("p"), 3)], rules=EstimateRules.DEVICES
            )
            async with client.session([node("t", A10)]) as session:
                async with session.fork():
                    await session.place([(named("a"), "t")])
                    (evaluation,) = await session.evaluate([named("b")], allocations=True)
                await session.place([(named("c"), "t")])
                await session.add(copies=[copies_of(node("c", A10), 1)])
                await session.remove_nodes(["c-0"])
                content = await session.content()
                removed = await session.remove(["c"])

            assert filtered.failed_and_unresolvable_nodes == {"u": "node unregistered"}
            assert estimated.estimates[0].nodes == 3
            assert evaluation.refused[0].reason == "1/1 CardInsufficientMemory"
            assert [each.uid for each in content[0].pods] == ["c"]
            assert removed.removed[0].uid == "c"

    run(work())


def test_problems_are_exceptions_that_say_what_to_do(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server, AsyncClient(reached(server)) as client:
            async with client.session([node("t", A10)]) as session:
                with pytest.raises(Invalid, match="no node elsewhere") as contradiction:
                    await session.place([(named("a"), "elsewhere")])
                await server.say(
                    "POST", f"/v1/sessions/{session.id}:fork", {"operationId": "another's"}
                )
                with pytest.raises(RevisionMoved) as moved:
                    await session.commit()
                await server.ask("DELETE", f"/v1/sessions/{session.id}")
                with pytest.raises(SessionGone):
                    await session.content()
            with pytest.raises(Invalid, match="two nodes with the name t"):
                await client.filter(pod(), [node("t"), node("t")])

            assert contradiction.value.problem.status == 422
            assert moved.value.problem.revision == 1

    run(work())


def test_strangers_are_told_so_by_both_kinds_of_calls(tmp_path: Path) -> None:
    async def work() -> None:
        async with (
            simulator(tmp_path) as server,
            AsyncClient(reached(server, "stranger")) as client,
        ):
            with pytest.raises(Denied, match="stranger"):
                await client.filter(pod(), [node("t")])
            with pytest.raises(Denied, match="stranger"):
                await client.estimate([node("t")], [(pod(), 1)])

    run(work())


def test_a_token_is_read_for_every_call(tmp_path: Path) -> None:
    async def review(token: str) -> str:
        return "robot" if token == "good" else ""

    async def work() -> None:
        settings = limited(access=Access(identities=frozenset({"robot"})))
        async with simulator(tmp_path, settings=settings, review=review) as server:
            file = tmp_path / "token"
            file.write_text("old\n")
            authority = server.papers.files.client_authorities
            access = Server(url=server.url, ca_file=authority, token_file=str(file))
            async with AsyncClient(access) as client:
                with pytest.raises(Denied):
                    await client.filter(pod(), [node("t")])
                file.write_text("good\n")

                assert (await client.filter(pod(), [node("t")])).failed_and_unresolvable_nodes

    run(work())


def test_who_cannot_be_reached_is_named(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            access = reached(server, tries_max=1)
        async with AsyncClient(access) as client:
            with pytest.raises(Unreachable, match="did not answer"):
                await client.filter(pod(), [node("t")])

    run(work())


LOOK = looking("s")
BUSY = Answer(status=429, body=b"{}", retry_after="2")
CLOSING: Call[None] = Call(method="DELETE", path="/v1/sessions/s")


def tried(call: Call[T], *outcomes: Outcome, timeout_s: float = 10.0) -> tuple[list[float], object]:
    """Return how long is waited between tries, and what comes of them all."""
    steps = trying(call, timeout_s=timeout_s, tries_max=3)
    waits, left = [], list(outcomes)
    step = next(steps)
    try:
        while True:
            if isinstance(step, Wait):
                waits.append(step.seconds)
                step = steps.send((Unreachable(""), step.seconds))
            else:
                assert isinstance(step, Send)
                step = steps.send((left.pop(0), 0.0))
    except StopIteration as end:
        return waits, end.value
    except SimulationFault as fault:
        return waits, type(fault)


@pytest.mark.parametrize(
    ("outcomes", "waits", "came"),
    [
        ([BUSY] * 3, [2.0, 2.0], Overloaded),
        ([Unreachable("")] * 3, [0.1, 0.2], Unreachable),
        ([Unreachable(""), Answer(status=404, body=b"")], [0.1], SessionGone),
        ([Answer(status=504, body=b"")], [], TimedOut),
        ([Answer(status=200, body=b"<html>")] * 3, [0.1, 0.2], Unreachable),
    ],
)
def test_a_call_is_made_again_where_it_may_help(
    outcomes: list[Outcome], waits: list[float], came: type[SimulationFault]
) -> None:
    assert tried(LOOK, *outcomes) == (waits, came)


def test_a_call_is_not_made_again_after_its_time() -> None:
    assert tried(LOOK, BUSY, timeout_s=1.5) == ([], Overloaded)


def test_a_session_that_is_ended_twice_is_ended() -> None:
    assert tried(CLOSING, Unreachable(""), Answer(status=410, body=b"")) == ([0.1], None)
    assert tried(CLOSING, Answer(status=410, body=b"")) == ([], SessionGone)

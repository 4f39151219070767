"""Only those may simulate who show that they are listed, and no more often than they may."""

import asyncio
import ssl
from pathlib import Path

import msgspec
import pytest
import trustme

from springtide.apps.simulation.access import (
    KNOWN_S,
    REVIEWS_BURST,
    UNKNOWN_S,
    Denial,
    Doorkeeper,
    Times,
    Tokens,
)
from springtide.apps.simulation.endpoints import ENDPOINTS, FILTER, GET
from springtide.apps.simulation.settings import Access
from springtide.edge.cluster import ClusterFault, Unreachable
from springtide.edge.serving import Asked, Reply, Route
from springtide.wire.openapi import Endpoint
from tests.running import run
from tests.simulating import A10, body, fitting, node, pod
from tests.simulators import CLIENT, Papers, limited, simulator
from tests.virtual import LoopClock
from tests.virtual import run as run_virtually

CALL = body(pod(), node("t", A10))
USER = "system:serviceaccount:kube-system:autoscaler"
BEARER = "Authorization: Bearer {}\r\n"


def test_a_listed_common_name_is_answered(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            answer = await server.say("POST", "/filter-simulation", CALL)

            assert fitting(answer) == ["t"]

    run(work())


def test_a_listed_san_is_answered_and_is_who_the_client_is(tmp_path: Path) -> None:
    async def work() -> None:
        access = Access(identities=frozenset({"a.example"}))
        async with simulator(tmp_path, settings=limited(access=access)) as server:
            tls = server.papers.of("somebody", "b.example", "a.example")
            answer = await server.ask("POST", "/filter-simulation", CALL, tls=tls)

            assert answer.status == 200
            assert server.log.of("simulated")[0]["client"] == "a.example"

    run(work())


@pytest.mark.parametrize("endpoint", [each for each in ENDPOINTS if each.path != "/healthz"])
def test_without_a_certificate_nothing_is_answered_but_whether_it_lives(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            anonymous = server.papers.anonymous()
            assert (await server.ask("GET", "/healthz", tls=anonymous)).status == 200
            path = endpoint.path.replace("{id}", "x")
            sent = b"{}" if endpoint.body else None
            answer = await server.ask(endpoint.method, path, sent, tls=anonymous)

            assert answer.status == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            told = msgspec.json.decode(answer.body)
            why = told["Error"] if endpoint is FILTER else told["detail"]
            assert "Show a client certificate" in why

    run(work())


def test_an_unlisted_identity_is_refused_before_its_body_is_read(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            stranger = server.papers.of("stranger")
            answer = await server.ask("POST", "/v1/estimate", CALL, tls=stranger)
            filtered = await server.ask("POST", "/filter-simulation", CALL, tls=stranger)

            assert answer.status == filtered.status == 403
            assert answer.headers["content-type"] == "application/problem+json"
            assert msgspec.json.decode(answer.body)["detail"].startswith(
                "stranger, stranger.example"
            )
            assert msgspec.json.decode(filtered.body)["Error"].startswith("Denied: stranger")
            assert not server.log.of("simulated")

    run(work())


@pytest.mark.parametrize("kind", ["expired", "wrong authority"])
def test_a_certificate_that_proves_nothing_ends_the_handshake(kind: str, tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            other = trustme.CA() if kind == "wrong authority" else None
            tls = server.papers.of(CLIENT, authority=other, expired=other is None)

            with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
                await server.ask("GET", "/version", tls=tls)
            assert (await server.ask("GET", "/version")).status == 200

    run(work())


def test_a_renewed_authority_decides_on_the_next_handshake(tmp_path: Path) -> None:
    async def work() -> None:
        papers = Papers(tmp_path)
        async with simulator(tmp_path, papers=papers) as server:
            renewed = trustme.CA()
            tls = papers.of(CLIENT, authority=renewed)
            renewed.cert_pem.write_to_path(papers.files.client_authorities)
            assert server.where.certificates.renew()

            assert (await server.ask("GET", "/version", tls=tls)).status == 200
            with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
                await server.ask("GET", "/version")

    run(work())


def test_who_calls_too_often_is_told_when_to_try_again_and_others_are_not(tmp_path: Path) -> None:
    async def work() -> None:
        access = Access(identities=frozenset({CLIENT, "other"}), calls_per_s=0.01, burst=2)
        async with simulator(tmp_path, settings=limited(access=access)) as server:
            first = [await server.ask("GET", "/version") for _ in range(2)]
            refused = await server.ask("GET", "/version")
            filtered = await server.ask("POST", "/filter-simulation", CALL)
            other = await server.ask("GET", "/version", tls=server.papers.of("other"))

            assert [each.status for each in first] == [200, 200]
            assert refused.status == 429
            assert 0 < int(refused.headers["retry-after"]) <= 100
            assert filtered.status == 200
            assert msgspec.json.decode(filtered.body)["Error"].startswith("Overloaded: autoscaler")
            assert "retry-after" in filtered.headers
            assert other.status == 200

    run(work())


class Api:
    """Knows the user of one token, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fault: ClusterFault | None = None

    async def review(self, token: str) -> str:
        """Return the user."""
        self.asked.append(token)
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        return USER if token == "good" else ""


def test_a_token_of_a_listed_user_is_answered_and_reviewed_once(tmp_path: Path) -> None:
    async def work() -> None:
        api = Api()
        settings = limited(access=Access(identities=frozenset({USER})))
        async with simulator(tmp_path, settings=settings, review=api.review) as server:
            anonymous = server.papers.anonymous()
            good = [
                await server.ask("GET", "/version", tls=anonymous, extra=BEARER.format("good"))
                for _ in range(3)
            ]
            bad = await server.ask("GET", "/version", tls=anonymous, extra=BEARER.format("bad"))
            none = await server.ask("GET", "/version", tls=anonymous)

            assert [each.status for each in good] == [200] * 3
            assert api.asked == ["good", "bad"]
            assert bad.status == none.status == 401
            assert b"or send a bearer token" in none.body
            assert not any("good" in str(facts) for _, facts in server.log.events)

    run(work())


def test_a_token_counts_for_nothing_where_tokens_are_not_taken(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            answer = await server.ask(
                "GET", "/version", tls=server.papers.anonymous(), extra=BEARER.format("good")
            )

            assert answer.status == 401

    run(work())


def test_an_api_server_that_cannot_be_asked_lets_nobody_in(tmp_path: Path) -> None:
    async def work() -> None:
        api = Api()
        api.fault = Unreachable("The API server is away. Try again.")
        settings = limited(access=Access(identities=frozenset({USER})))
        async with simulator(tmp_path, settings=settings, review=api.review) as server:
            answer = await server.ask(
                "GET", "/version", tls=server.papers.anonymous(), extra=BEARER.format("good")
            )

            assert answer.status == 503
            assert answer.headers["retry-after"] == "1"

    run(work())


def test_what_was_said_of_a_token_is_forgotten_after_a_while() -> None:
    async def work() -> None:
        api = Api()
        tokens = Tokens(api.review, LoopClock())

        assert await tokens.user("good") == await tokens.user("good") == USER
        assert await tokens.user("bad") == await tokens.user("bad") == ""
        assert api.asked == ["good", "bad"]
        await asyncio.sleep(UNKNOWN_S)
        assert await tokens.user("good") == USER
        assert await tokens.user("bad") == ""
        assert api.asked == ["good", "bad", "bad"]
        await asyncio.sleep(KNOWN_S)
        assert await tokens.user("good") == USER
        assert api.asked[3:] == ["good"]

    run_virtually(work())


def test_one_token_is_reviewed_once_for_all_who_send_it_at_the_same_time() -> None:
    async def work() -> None:
        api = Api()
        tokens = Tokens(api.review, LoopClock())

        users = await asyncio.gather(*(tokens.user("good") for _ in range(16)))

        assert users == [USER] * 16
        assert api.asked == ["good"]

    run_virtually(work())


def test_a_flood_of_unknown_tokens_is_not_passed_on() -> None:
    async def work() -> None:
        api = Api()
        tokens = Tokens(api.review, LoopClock())

        answers = [await tokens.user(f"bad-{number}") for number in range(2 * REVIEWS_BURST)]

        assert len(api.asked) == REVIEWS_BURST
        assert all(isinstance(each, Denial) for each in answers[REVIEWS_BURST:])

    run_virtually(work())


class Date:
    """A calendar that stands still."""

    def __init__(self, unix_s: float) -> None:
        self._unix_s = unix_s

    def unix_s(self) -> float:
        """Return the time."""
        return self._unix_s


@pytest.mark.parametrize(("later_s", "is_let_in"), [(-1.0, True), (0.0, False), (1.0, False)])
def test_a_certificate_that_runs_out_on_a_connection_counts_no_more(
    later_s: float, *, is_let_in: bool
) -> None:
    peer = {"subject": ((("commonName", CLIENT),),), "notAfter": "Jan  1 00:00:00 2030 GMT"}
    times = Times(LoopClock(), Date(1_893_456_000 + later_s))
    keeper = Doorkeeper(Access(identities=frozenset({CLIENT})), times)
    route = Route(endpoint=GET, answer=unanswered)

    client = run_virtually(keeper(route, Asked(path=GET.path, peer=peer)))

    assert (client == CLIENT) is is_let_in
    assert isinstance(client, Reply) is not is_let_in


async def unanswered(_asked: Asked) -> Reply:
    raise AssertionError("the guard alone is asked")

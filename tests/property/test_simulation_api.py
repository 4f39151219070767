"""The simulation's server behaves as its OpenAPI says, whatever is sent to it, and goes on answering.

schemathesis makes the calls from the document that the server serves, over TLS and as a listed client:
those that follow it, and those that break it in one place.
"""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from springtide.apps.simulation import Access
from springtide.apps.simulation.endpoints import CHANGES, ENDPOINTS, EVALUATE, FILTER, GET
from springtide.engine.simulation.bounds import Bounds
from springtide.wire.openapi import Endpoint
from tests.simulating import A10, body, fitting, node, pod
from tests.simulators import CLIENT, Papers, Simulator, limited, simulator

EXAMPLES = 40
SECONDS_MAX = 20.0
CHECKED = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
REJECTED = [*CHECKED, negative_data_rejection]
SETTINGS = limited(
    bounds=Bounds(sessions_max=10_000, sessions_per_client_max=10_000),
    access=Access(identities=frozenset({CLIENT}), calls_per_s=1e6, burst=1_000_000),
)
ABOUT_SESSIONS = {GET.path, EVALUATE.path, *(each.path for each in CHANGES.values())}


class Served:
    """A server that runs in a thread, and calls to it."""

    def __init__(self, folder: Path) -> None:
        self.papers = Papers(folder)
        certificate, key, authority = self.papers.written(CLIENT)
        self.cert, self.verify = (certificate, key), authority
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._running: Simulator | None = None

    def run(self) -> None:
        """Run it until it is ended."""
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        async with simulator(self._folder, papers=self.papers, settings=SETTINGS) as server:
            self._running = server
            self._ready.set()
            await self._end.wait()

    @property
    def running(self) -> Simulator:
        """Return what runs."""
        assert self._ready.wait(SECONDS_MAX)
        assert self._running is not None
        return self._running

    def end(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)

    def session(self) -> requests.Session:
        """Return connections of a listed client."""
        made = requests.Session()
        made.cert, made.verify = self.cert, self.verify
        # Authorities of the environment would go before.
        made.trust_env = False
        return made

    def answers(self) -> bool:
        """Return whether a pod still gets the node that takes it."""
        with self.session() as session:
            said = session.post(
                f"{self.running.url}/filter-simulation",
                data=body(pod(), node("t", A10)),
                timeout=SECONDS_MAX,
            )
        return fitting(said.json()) == ["t"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all calls: what one of them breaks, the next ones show."""
    served = Served(tmp_path_factory.mktemp("tls"))
    thread = threading.Thread(target=served.run)
    thread.start()
    try:
        assert served.running.url
        yield served
    finally:
        served.end()
        thread.join(SECONDS_MAX)


def document(server: Served) -> dict[str, Any]:
    """Return the document that is served."""
    with server.session() as session:
        url = f"{server.running.url}/openapi.json"
        found: dict[str, Any] = session.get(url, timeout=SECONDS_MAX).json()
        return found


def test_every_endpoint_is_in_the_document_that_is_served(server: Served) -> None:
    paths = document(server)["paths"]

    told = {(method.upper(), path) for path, each in paths.items() for method in each}
    assert told == {(each.method, each.path) for each in ENDPOINTS}


WAYS = [
    pytest.param(each, mode, id=f"{each.method}-{each.path}-{mode.value}")
    for each in ENDPOINTS
    for mode in GenerationMode
    # Where nothing is taken, there is nothing to break.
    if mode is GenerationMode.POSITIVE or each.body
]


@pytest.mark.parametrize(("endpoint", "mode"), WAYS)
def test_an_endpoint_answers_as_the_document_says(
    endpoint: Endpoint, mode: GenerationMode, server: Served
) -> None:
    operation = schemathesis.openapi.from_dict(document(server))[endpoint.path][endpoint.method]
    # An extender client reads nothing but a 200, so that wrong filter calls get one as well.
    checks = CHECKED if endpoint is FILTER or mode is GenerationMode.POSITIVE else REJECTED

    with server.session() as session:
        opened = session.post(
            f"{server.running.url}/v1/sessions",
            json={"operationId": server.running.operation(), "nodes": [node("t", A10)]},
            timeout=SECONDS_MAX,
        ).json()["id"]

        @settings(max_examples=EXAMPLES)
        @given(operation.as_strategy(generation_mode=mode))
        def call(case: schemathesis.Case[Any]) -> None:
            if endpoint.path in ABOUT_SESSIONS:
                case.path_parameters = {"id": opened}
            response = case.call(
                base_url=server.running.url, session=session, timeout=SECONDS_MAX,
                cert=server.cert, verify=server.verify,
            )  # fmt: skip
            # Who gives it next to no time is told that this was not enough.
            is_hasty = response.status_code == 504 and "X-Request-Timeout" in (case.headers or {})
            passed = [not_a_server_error] if is_hasty else []
            case.validate_response(response, checks=[e for e in checks if e not in passed])

        call()
        session.delete(f"{server.running.url}/v1/sessions/{opened}", timeout=SECONDS_MAX)

    assert server.answers()
    assert not server.running.log.of("bug")

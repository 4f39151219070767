"""An extender behaves as its OpenAPI says, whatever is sent to it over HTTP, and goes on answering.

schemathesis makes the calls from the document that the process serves: those that follow it, and those
that break it in one place.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from springtide.apps.extender.endpoints import ENDPOINTS, WHY
from springtide.wire.openapi import Endpoint
from tests.running import Standing, Unwilling, World, running

EXAMPLES = 50
FEW_EXAMPLES = 5
"""Of questions that a process of its own is started for."""
SECONDS_MAX = 10.0
CHECKED = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
"""That wrong bodies get another status is none of them: kube-scheduler reads nothing but a 200."""


class Served:
    """An extender that runs in a thread, and calls to it."""

    def __init__(self) -> None:
        self.world = World()
        self.world.add_node("a")
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._standing: Standing | None = None

    def run(self) -> None:
        """Run it until it is ended."""
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        async with running(Unwilling(self.world.store)) as standing:
            self._standing = standing
            self.url = f"http://{standing.calls.host}:{standing.calls.port}"
            self._ready.set()
            await self._end.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        assert self._ready.wait(SECONDS_MAX)

    def end(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)

    def places_a_pod(self) -> bool:
        """Return whether a pod gets the node that is there, and let it go again."""
        placing = asyncio.run_coroutine_threadsafe(self._place(), self._loop)
        return placing.result(SECONDS_MAX)

    async def _place(self) -> bool:
        answer = await self.standing.filter(self.world.add_pod("train", gpu=1), "a")
        self.world.store.delete(("", "pods"), "team", "train", {})
        self.standing.live.ledger.check()
        return bool(answer["NodeNames"] == ["a"])

    @property
    def standing(self) -> Standing:
        """Return what runs."""
        assert self._standing is not None
        return self._standing


@contextmanager
def served() -> Iterator[Served]:
    """Run an extender as long as the block."""
    extender = Served()
    thread = threading.Thread(target=extender.run)
    thread.start()
    try:
        extender.wait()
        yield extender
    finally:
        extender.end()
        thread.join(SECONDS_MAX)


@pytest.fixture(scope="module")
def extender() -> Iterator[Served]:
    """One extender for all calls: what one of them breaks, the next ones show."""
    with served() as found:
        yield found


def test_every_endpoint_is_in_the_document_that_is_served(extender: Served) -> None:
    document = requests.get(f"{extender.url}/openapi.json", timeout=SECONDS_MAX).json()

    told = {(method.upper(), path) for path, each in document["paths"].items() for method in each}
    assert told == {(each.method, each.path) for each in ENDPOINTS}


WAYS = [
    pytest.param(each, mode, id=f"{each.path}-{mode.value}")
    for each in ENDPOINTS
    for mode in GenerationMode
    # Where nothing is taken, there is nothing to break.
    if mode is GenerationMode.POSITIVE or each.body or each.parameters
]


@pytest.mark.parametrize(("endpoint", "mode"), WAYS)
def test_an_endpoint_answers_as_the_document_says(
    endpoint: Endpoint, mode: GenerationMode, extender: Served
) -> None:
    document = requests.get(f"{extender.url}/openapi.json", timeout=SECONDS_MAX).json()
    operation = schemathesis.openapi.from_dict(document)[endpoint.path][endpoint.method]

    with requests.Session() as session:

        @settings(max_examples=FEW_EXAMPLES if endpoint is WHY else EXAMPLES)
        @given(operation.as_strategy(generation_mode=mode))
        def call(case: schemathesis.Case[Any]) -> None:
            response = case.call(base_url=extender.url, session=session, timeout=SECONDS_MAX)
            case.validate_response(response, checks=CHECKED)

        call()

    assert extender.places_a_pod()
    assert not extender.standing.log.of("bug")

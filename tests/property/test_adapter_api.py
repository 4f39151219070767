"""An adapter behaves as its OpenAPI says, whatever is sent to it over HTTP, and goes on answering.

schemathesis makes the calls from the document that the process serves: those that follow it, and those
that break it in one place. They come by way of the front proxy, and without it.
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
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from springtide.apps.adapter.endpoints import (
    CUSTOM_ENDPOINTS,
    EXTERNAL_ENDPOINTS,
    HEALTHZ,
    READYZ,
    openapi,
)
from springtide.wire.openapi import Endpoint
from tests.adapting import FRONT, Authority, E, S, Standing, adapting, value_path
from tests.promapi import PromApi, prometheus

EXAMPLES = 20
SECONDS_MAX = 10.0
CHECKED = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]
"""A status of 503 is no bug here: it is how an autoscaler is told to hold."""


class Served:
    """An adapter that runs in a thread, and how it is called."""

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self.front = folder / "front.pem"
        self.authority_file = folder / "serving-ca.pem"
        self._folder = folder
        self._authority = Authority()
        self._authority.scale("chat", replicas=1, running=1)
        self._loop = asyncio.new_event_loop()
        self._ready, self._end = threading.Event(), asyncio.Event()
        self.standing: Standing | None = None

    def run(self, api: PromApi) -> None:
        """Run it until it is ended."""
        self._loop.run_until_complete(self._run(api))
        self._loop.close()

    async def _run(self, api: PromApi) -> None:
        async with adapting(
            self._folder, self._authority, api, serves_custom_metrics=True
        ) as found:
            pair = self._authority.front_ca.issue_cert("front.test", common_name=FRONT)
            pair.private_key_and_cert_chain_pem.write_to_path(str(self.front))
            found.pki.serving_ca.cert_pem.write_to_path(str(self.authority_file))
            self.standing, self.url = found, f"https://localhost:{found.calls.port}"
            self._ready.set()
            await self._end.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        assert self._ready.wait(SECONDS_MAX)

    def end(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)

    def session(self, *, is_front: bool) -> requests.Session:
        """Return what calls as the front proxy, or as nobody."""
        session = requests.Session()
        # Authorities and proxies that the environment names are not for this machine.
        session.trust_env = False
        session.verify = str(self.authority_file)
        if is_front:
            session.cert = str(self.front)
            session.headers["X-Remote-User"] = "hpa"
        return session

    def answers(self) -> bool:
        """Return whether it still does."""
        with self.session(is_front=True) as session:
            answer = session.get(f"{self.url}{value_path(E)}", timeout=SECONDS_MAX)
            return answer.status_code == 200


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One adapter for all calls: what one of them breaks, the next ones show."""
    found = Served(tmp_path_factory.mktemp("adapter"))
    with prometheus() as api:
        api.put_member(E, 2, member="chat-0", age_s=-3600)
        api.put_member(S, 1, member="chat-0", age_s=-3600)
        thread = threading.Thread(target=found.run, args=(api,))
        thread.start()
        try:
            found.wait()
            yield found
        finally:
            found.end()
            thread.join(SECONDS_MAX)


WAYS = [
    pytest.param(each, mode, is_front, id=f"{each.path}-{mode.value}-{is_front}")
    for each in (*EXTERNAL_ENDPOINTS, *CUSTOM_ENDPOINTS, HEALTHZ, READYZ)
    for mode in GenerationMode
    # Where nothing is taken, there is nothing to break.
    if mode is GenerationMode.POSITIVE or each.parameters
    for is_front in (True, False)
]


@pytest.mark.parametrize(("endpoint", "mode", "is_front"), WAYS)
def test_an_endpoint_answers_as_the_document_says(
    endpoint: Endpoint, mode: GenerationMode, adapter: Served, *, is_front: bool
) -> None:
    operation = schemathesis.openapi.from_dict(openapi())[endpoint.path][endpoint.method]

    with adapter.session(is_front=is_front) as session:

        @settings(max_examples=EXAMPLES)
        @given(operation.as_strategy(generation_mode=mode))
        def call(case: schemathesis.Case[Any]) -> None:
            response = case.call(
                base_url=adapter.url,
                session=session,
                timeout=SECONDS_MAX,
                verify=session.verify,
            )
            case.validate_response(response, checks=CHECKED)
            assert is_front or endpoint.is_public or response.status_code in {401, 404, 405}

        call()

    assert adapter.answers()
    assert adapter.standing is not None
    assert not adapter.standing.log.of("bug")

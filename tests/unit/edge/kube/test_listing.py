"""One kind page by page: continuation, restarts, versions, retries and their bounds. Nobody waits."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from springtide.edge.cluster.errors import (
    Broken,
    ClusterFault,
    Denied,
    Failing,
    Malformed,
    NotServed,
    Throttled,
)
from springtide.edge.kube.asking import TRIES_MAX, WAIT_MAX_S, Patience
from springtide.edge.kube.listing import RESTARTS_MAX, pages
from springtide.edge.kube.transport import Answer, Query
from springtide.wire.k8s.resources import CLAIM_VERSIONS, RESOURCES, Resource
from tests.apiserver import PATHS, ApiServer, Asked, Object, api_server, status
from tests.world import FirstRng

PODS = PATHS["Pod"]
GONE = status(410, "The provided continue parameter is too old")


def pods(count: int) -> list[Object]:
    return [{"kind": "Pod", "metadata": {"name": f"pod-{number}"}} for number in range(count)]


def resource(kind: str) -> Resource:
    return next(each for each in RESOURCES if each.kind == kind)


class Pauses:
    """Takes no time, and keeps how long it should have taken."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)


def listed(server: ApiServer, kind: str = "Pod", pauses: Pauses | None = None) -> list[bytes]:
    """Return the pages that the server gives without a connection in between."""

    async def get(path: str, query: Query) -> Answer:
        reply = server.reply(Asked(path=path, query=dict(query), headers={}))
        if reply.cuts:
            raise Broken("cut")
        retry_after = dict(reply.headers).get("Retry-After", "")
        return Answer(status=reply.status, body=reply.body, retry_after=retry_after)

    patience = Patience(rng=FirstRng(), pause=pauses or Pauses())
    return asyncio.run(pages(get, resource(kind), patience=patience))


def names(found: Sequence[bytes]) -> list[str]:
    return [
        item["metadata"]["name"] for page in found for item in msgspec.json.decode(page)["items"]
    ]


def test_a_long_list_comes_in_pages() -> None:
    with api_server(pods(7), page_objects=3) as server:
        found = listed(server)

    assert names(found) == [f"pod-{number}" for number in range(7)]
    assert [each.query.get("continue") for each in server.asked] == [None, "3", "6"]
    assert {each.query["limit"] for each in server.asked} == {"500"}


def test_a_list_that_cannot_be_continued_is_started_again() -> None:
    with api_server(pods(7), page_objects=3) as server:
        first = server.reply(Asked(path=PODS, query={"limit": "500"}, headers={}))
        server.asked.clear()
        server.scripted[PODS] = [first, GONE]

        found = listed(server)

    assert names(found) == [f"pod-{number}" for number in range(7)]
    assert [each.query.get("continue") for each in server.asked] == [None, "3", None, "3", "6"]


def test_a_list_that_never_ends_in_pages_is_asked_for_in_one_piece() -> None:
    with api_server(pods(7), page_objects=3) as server:
        server.scripted[PODS] = [GONE] * (1 + RESTARTS_MAX)

        found = listed(server)

    assert names(found) == [f"pod-{number}" for number in range(7)]
    assert "limit" not in server.asked[-1].query
    assert len(found) == 1


def test_the_first_version_that_is_served_is_taken() -> None:
    claims = resource("ResourceClaim")
    with api_server() as server:
        kind, objects = server.lists.pop(claims.path("v1"))
        server.lists[claims.path("v1beta1")] = (kind, objects)

        found = listed(server, "ResourceClaim")

    assert len(found) == 1
    assert [each.path for each in server.asked] == [claims.path(each) for each in CLAIM_VERSIONS]


def test_only_the_configurations_of_hami_are_asked_for() -> None:
    with api_server() as server:
        listed(server, "ConfigMap")

    assert server.asked[0].query["labelSelector"] == "app.kubernetes.io/component=hami-scheduler"


@pytest.mark.parametrize(
    ("reply", "waits"),
    [
        (status(429, retry_after="7"), 7.0),
        (status(429), 0.25),
        (status(503, retry_after="1"), 1.0),
        (status(500, "etcdserver: request timed out"), 0.25),
        (msgspec.structs.replace(GONE, cuts=True), 0.25),
    ],
)
def test_what_passes_is_waited_for(reply: object, waits: float) -> None:
    pauses = Pauses()
    with api_server(pods(1)) as server:
        server.scripted[PODS] = [reply]  # type: ignore[list-item]  # parametrised

        found = listed(server, pauses=pauses)

    assert names(found) == ["pod-0"]
    assert pauses.waited == [waits]


def test_waiting_gets_longer_and_ends() -> None:
    pauses = Pauses()
    with api_server(pods(1)) as server:
        server.scripted[PODS] = [status(500, "no leader")] * TRIES_MAX

        with pytest.raises(Failing, match="code 500: no leader"):
            listed(server, pauses=pauses)

    assert server.count(PODS) == TRIES_MAX
    assert pauses.waited == [0.25, 0.5, 1.0, 2.0]


def test_nobody_waits_longer_than_is_sensible() -> None:
    pauses = Pauses()
    with api_server(pods(1)) as server:
        server.scripted[PODS] = [status(429, retry_after=str(int(WAIT_MAX_S) + 1))]

        with pytest.raises(Throttled):
            listed(server, pauses=pauses)

    assert pauses.waited == []


@pytest.mark.parametrize(
    ("code", "fault"), [(401, Denied), (403, Denied), (404, NotServed), (302, Malformed)]
)
def test_what_does_not_pass_is_asked_once(code: int, fault: type[ClusterFault]) -> None:
    with api_server() as server:
        server.scripted[PODS] = [status(code, "because")]

        with pytest.raises(fault):
            listed(server)

    assert server.count(PODS) == 1


BODIES: list[Callable[[], bytes]] = [
    lambda: b"<html>",
    lambda: b"[]",
    lambda: b'{"kind":"Status","items":[]}',
    lambda: b'{"kind":"PodList","items":[',
]


@pytest.mark.parametrize("body", BODIES)
def test_what_is_no_list_is_told(body: Callable[[], bytes]) -> None:
    with api_server() as server:
        server.scripted[PODS] = [msgspec.structs.replace(status(200), body=body())]

        with pytest.raises(Malformed, match="Check that the kubeconfig names an API server"):
            listed(server)


def test_a_list_that_leads_back_to_itself_ends() -> None:
    page = b'{"kind":"PodList","metadata":{"continue":"3"},"items":[]}'
    with api_server() as server:
        server.scripted[PODS] = [msgspec.structs.replace(status(200), body=page)] * 3

        with pytest.raises(Malformed, match="read already"):
            listed(server)

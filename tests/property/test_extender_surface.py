"""Whatever is sent to an extender is answered, and the next call is answered as if nothing had been."""

import asyncio
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.apps.extender import Deadlines, Process, Settings, Times
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.serving import Application, Budget, Routes
from springtide.wire.k8s import Parts, decode_node
from tests.builders import card
from tests.loopback import Told
from tests.memorycluster import MemoryCluster
from tests.objectstore import ObjectStore
from tests.running import live_of, node_object, pod_object

PATHS = ("/filter", "/bind", "/webhook")
POD = {**pod_object("train", gpu=1), "metadata": {"name": "train", "namespace": "t", "uid": "u"}}
BODIES: tuple[Any, ...] = (
    {"Pod": POD, "Nodes": None, "NodeNames": ["a", "b"]},
    {"Pod": POD, "Nodes": {"metadata": {}, "items": [{"metadata": {"name": "a"}}]}},
    {"PodName": "train", "PodNamespace": "t", "PodUID": "u", "Node": "a"},
    {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "r", "namespace": "t", "operation": "CREATE", "object": POD},
    },
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
)


def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """Replace something in a value by something odd."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: spoilt(draw, value[key])}
    if isinstance(value, list) and value and draw(st.booleans()):
        return [spoilt(draw, value[0]), *value[1:]]
    return draw(ODD)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Return bodies that were right once: with odd values, cut off, or with other bytes in them."""
    data = bytearray(msgspec.json.encode(spoilt(draw, draw(st.sampled_from(BODIES)))))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))]) if draw(st.booleans()) else bytes(data)


async def post(application: Application, path: str, body: bytes) -> tuple[int, Any]:
    """Call an application without any socket."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
        "state": {},
    }
    await application(scope, receive, send)
    return sent[0]["status"], msgspec.json.decode(sent[1]["body"])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(PATHS), bodies()), min_size=1, max_size=4))
def test_every_body_is_answered_and_harms_nobody(calls: list[tuple[str, bytes]]) -> None:
    log = Told()

    async def work() -> None:
        cluster = MemoryCluster(ObjectStore())
        cluster.store.create(("", "pods"), "t", POD)
        process = Process(
            cluster,
            live_of(),
            settings=Settings(deadlines=Deadlines(bind_s=0.01)),
            times=Times(MachineClock(), MachineCalendar()),
            log=log,
        )
        scheduling = process.scheduling
        scheduling.lead(is_leading=True)
        scheduling.ready.set()
        node = msgspec.json.encode(node_object("a", [card()]))
        scheduling.live.node_seen(decode_node(node, Parts()), now_s=0.0)
        application = Application(
            Routes(process.surface.calls()),
            budget=Budget(1 << 20),
            tell_bug=lambda path, bug: log("bug", where=path, message=repr(bug)),
        )
        async with process.performer:
            for path, body in calls:
                status, _ = await post(application, path, body)
                assert status == 200
            after = await post(application, "/filter", msgspec.json.encode(BODIES[0]))

        assert after[1]["NodeNames"] == ["a"]
        scheduling.live.ledger.check()

    asyncio.run(work())
    assert not log.of("bug"), log.of("bug")

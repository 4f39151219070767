"""How long do hypothetical questions take: calls without state, sessions, and estimates?

Calls are those that HAMi's simulation was measured with, decoding and encoding included: a pod of one device,
8,192 MiB and 10 cores, on nodes that carry a name and the registration only; beside them whole nodes as the
API server has them. A call is asked of a process that has seen none of its nodes, and again. All bodies go
from bytes to bytes, without HTTP.
"""

import gc
import json
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from bench.clusters import node
from bench.figure import Figure, cpu_s
from springtide.apps.sessions import Moment, Service, filter_simulation, rules
from springtide.edge.machine import MachineClock

PEER_MS: Final = {1_000: 64, 5_000: 324}
"""Milliseconds of HAMi's simulation, decoding and encoding included."""
GROUPS: Final = 4
IMAGES: Final = 62
"""With so many images 5,000 nodes are 75 MB."""
BATCH: Final = 500
BATCHES: Final = 20
TRIES: Final = 5
AT: Final = Moment(elapsed_s=0.0, unix_s=1_800_000_000.0)

Json = dict[str, Any]


def measure() -> Iterator[Figure]:
    """Yield what calls, sessions and estimates take."""
    for nodes, peer in PEER_MS.items():
        bare = [bare_node(index) for index in range(nodes)]
        yield from _called(f"{nodes:,} nodes", bare, peer=peer)
        gc.collect()
    whole = [node(index, GROUPS, images=IMAGES) for index in range(5_000)]
    yield from _called("5,000 whole nodes", whole)
    gc.collect()
    yield from _placed()
    yield from _evaluated()
    yield from _estimated()


def _called(name: str, nodes: list[Json], *, peer: int = 0) -> Iterator[Figure]:
    body = encoded({"Pod": pod(0, gpumem=8192, gpucores=10), "Nodes": {"items": nodes}})
    first_ms, again_ms = [], []
    for _ in range(TRIES):
        given = rules()
        first_ms.append(cpu_s(lambda: filter_simulation(body, given).body) * 1e3)  # noqa: B023 - called at once
        again_ms.append(cpu_s(lambda: filter_simulation(body, given).body) * 1e3)  # noqa: B023 - called at once
    size = f"{len(body) / 1e6:.0f} MB"
    how = f"{size}, HAMi takes {peer} ms" if peer else size
    yield Figure(name, min(first_ms), "ms", how)
    yield Figure(f"{name}, seen again", min(again_ms), "ms", size)


def _placed() -> Iterator[Figure]:
    """Yield how many pods a second are placed in a session, and the same without one."""
    nodes = [bare_node(index) for index in range(1_000)]
    names = [each["metadata"]["name"] for each in nodes]
    service = _session(nodes)
    numbers = count()
    bodies = [
        encoded(
            {
                "operationId": f"batch-{batch}",
                "pods": [
                    {"pod": pod(number, gpumem=1000 + 100 * (number % 7)), "node": names[place]}
                    for place, number in zip(range(BATCH), numbers, strict=False)
                ],
            }
        )
        for batch in range(BATCHES)
    ]

    def place() -> None:
        for body in bodies:
            reply = service.call("client", "session", "place", body, AT)
            assert b'"placed":false' not in reply.body

    rate = BATCH * BATCHES / cpu_s(place)
    yield Figure("pods placed in a session", rate, "pods/s", f"1,000 nodes, batches of {BATCH}")
    one = encoded({"Pod": pod(0, gpumem=1000), "Nodes": {"items": nodes}})
    given = rules()
    call_s = cpu_s(lambda: filter_simulation(one, given).body, repeat=TRIES)
    how = f"{call_s * 1e3:.1f} ms for 1,000 nodes, {1e6 / rate:.0f} µs a pod"
    yield Figure("a call against a place", call_s * rate, "times", how)


def _evaluated() -> Iterator[Figure]:
    service = _session([bare_node(index) for index in range(5_000)])
    body = encoded({"pods": [pod(0, gpumem=8192, gpucores=10)]})

    def evaluate() -> None:
        assert service.call("client", "session", "evaluate", body, AT).status == 200

    yield Figure(
        "first evaluation, 5,000 nodes", cpu_s(evaluate) * 1e3, "ms", "a class not met before"
    )
    yield Figure("evaluation, 5,000 nodes", cpu_s(evaluate, repeat=20) * 1e3, "ms", "a known class")


def _estimated() -> Iterator[Figure]:
    for shapes, kinds in ((1, 20), (10, GROUPS)):
        templates = [{"node": _template(index, kinds)} for index in range(20)]
        pods = [
            {"pod": pod(index, gpumem=2000 + 1200 * index), "count": 10_000 // shapes}
            for index in range(shapes)
        ]
        body = encoded({"templates": templates, "pods": pods})
        service = Service(rules(), MachineClock())
        took_ms = cpu_s(lambda: service.estimate(body), repeat=TRIES) * 1e3  # noqa: B023 - called at once
        how = f"10,000 pods of {shapes} shapes, 20 templates of {kinds} kinds"
        yield Figure(f"estimate, {shapes} shapes", took_ms, "ms", how)


def _session(nodes: list[Json]) -> Service:
    service = Service(rules(), MachineClock())
    body = encoded({"operationId": "open", "nodes": nodes})
    reply = service.open("client", "session", body, AT)
    assert reply.status == 201, reply.body
    return service


def bare_node(index: int) -> Json:
    """Return a node with its name and registration alone."""
    metadata = node(index, GROUPS, images=0)["metadata"]
    key = "hami.io/node-nvidia-register"
    return {
        "metadata": {"name": metadata["name"], "annotations": {key: metadata["annotations"][key]}}
    }


def _template(index: int, kinds: int) -> Json:
    """Return a template of one of so many kinds, which differ in the memory of their cards."""
    made = node(index, GROUPS, images=0)
    key = "hami.io/node-nvidia-register"
    cards = json.loads(made["metadata"]["annotations"][key])
    for card in cards:
        card["devmem"] = 16384 + 2048 * (index % kinds)
    made["metadata"]["annotations"][key] = json.dumps(cards)
    return made


def pod(index: int, **limits: int) -> Json:
    """Return a pod that asks for one device."""
    amounts = {f"nvidia.com/{name}": str(value) for name, value in {"gpu": 1, **limits}.items()}
    return {
        "metadata": {"name": f"pod-{index}", "namespace": "default", "uid": f"uid-{index}"},
        "spec": {"containers": [{"name": "main", "resources": {"limits": amounts}}]},
    }


def encoded(value: Json) -> bytes:
    """Return a body."""
    return json.dumps(value, separators=(",", ":")).encode()

"""How fast are API objects read? 1,000 and 5,000 full nodes, with images and conditions."""

import json
from collections.abc import Iterator
from functools import partial

from bench import clusters
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.engine.placement.family import DeviceFamily
from springtide.model.ledger import Ledger
from springtide.wire.documents import decode
from springtide.wire.k8s.kinds import LIST_DECODER
from springtide.wire.source import Source


def measure() -> Iterator[Figure]:
    """Yield the rate of the typed pass alone and of the whole way to records and to a ledger."""
    data = _listed(5_000)
    size = len(data) / 1e6
    typed = cpu_s(lambda: LIST_DECODER.decode(data), repeat=3)
    whole = cpu_s(lambda: decode([Source(name="nodes.json", data=data)]), repeat=3)
    plain = cpu_s(lambda: json.loads(data), repeat=2)
    yield Figure("typed pass", size / typed, "MB/s", f"{size:.0f} MB in {typed:.3f} s of CPU")
    yield Figure("to records", size / whole, "MB/s", f"{whole:.3f} s of CPU for 5,000 nodes")
    yield Figure("against json.loads", plain / whole, "times", "the same bytes in the same run")
    yield from _to_ledgers()


def _to_ledgers() -> Iterator[Figure]:
    kinds = families(None, Policies())
    for count in (1_000, 5_000):
        given = [Source(name="nodes.json", data=_listed(count))]
        took_s = cpu_s(partial(_to_ledger, given, kinds), repeat=5)
        yield Figure(f"{count:,} nodes to a ledger", took_s * 1e3, "ms", "with 8 cards each")


def _to_ledger(given: list[Source], kinds: dict[str, DeviceFamily]) -> Ledger:
    return assemble(decode(given), kinds).ledger


def _listed(count: int) -> bytes:
    items = [clusters.node(index, 20, images=50) for index in range(count)]
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}).encode()

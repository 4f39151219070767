"""How fast are API objects read? 5,000 full nodes, with images and conditions."""

import json
from collections.abc import Iterator

from bench import clusters
from bench.figure import Figure, cpu_s
from springtide.wire.documents import decode
from springtide.wire.k8s.objects import LIST_DECODER
from springtide.wire.source import Source


def measure() -> Iterator[Figure]:
    """Yield the rate of the typed pass alone and of the whole way to records."""
    items = [clusters.node(index, 20, images=50) for index in range(5_000)]
    data = json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}).encode()
    size = len(data) / 1e6
    typed = cpu_s(lambda: LIST_DECODER.decode(data), repeat=3)
    whole = cpu_s(lambda: decode([Source(name="nodes.json", data=data)]), repeat=3)
    plain = cpu_s(lambda: json.loads(data), repeat=2)
    yield Figure("typed pass", size / typed, "MB/s", f"{size:.0f} MB in {typed:.3f} s of CPU")
    yield Figure("to records", size / whole, "MB/s", f"{whole:.3f} s of CPU for 5,000 nodes")
    yield Figure("against json.loads", plain / whole, "times", "the same bytes in the same run")

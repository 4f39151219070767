"""Filter calls: one pod and its candidate nodes, as whole objects or by name.

Objects arrive encoded, because the same nodes are sent again for every pod: joining them is all the
work that a call takes.
"""

from collections.abc import Iterable

import msgspec


def request_with_nodes(pod: bytes, nodes: Iterable[bytes]) -> bytes:
    """Return the call of an extender that wants whole nodes (`nodeCacheCapable: false`)."""
    items = b",".join(nodes)
    return b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (pod, items)


def request_with_names(pod: bytes, names: Iterable[str]) -> bytes:
    """Return the call of an extender that knows the nodes itself (`nodeCacheCapable: true`)."""
    return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (pod, msgspec.json.encode(list(names)))

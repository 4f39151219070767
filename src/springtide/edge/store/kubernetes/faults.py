"""Faults of a cluster as faults of a store: what somebody who only wants to store can do about them."""

from collections.abc import Iterator
from contextlib import contextmanager

from springtide.edge.cluster import errors as cluster
from springtide.edge.store.errors import Conflict, Denied, Malformed, StoreFault, Unreachable
from springtide.edge.store.fencing import FenceReason
from springtide.wire.errors import DocumentFault


@contextmanager
def translated() -> Iterator[None]:
    """Raise what a store raises instead of what a cluster does."""
    try:
        yield
    except (cluster.ClusterFault, DocumentFault) as fault:
        raise store_fault(fault) from fault


def store_fault(fault: cluster.ClusterFault | DocumentFault) -> StoreFault:
    """Return the fault of a store that stands for one of a cluster."""
    words = str(fault)
    match fault:
        case cluster.Conflict():
            return Conflict(FenceReason.CHANGED, words)
        case cluster.Denied() | cluster.NotFound() | cluster.NotServed() | cluster.Unusable():
            return Denied(words)
        case cluster.Invalid() | cluster.Malformed() | DocumentFault():
            return Malformed(words)
        case _:
            return Unreachable(words)

"""A live cluster behind its API server.

`kubeconfig` finds out which cluster is meant, and `connection` asks it by the official client's
transport. `reading` reads a whole cluster once, by `listing` of each kind page by page, and writes
nothing; `services` asks a program that runs in it. `cluster` is the `Cluster` port, by an `informer` for
each kind that is followed, and `looking` what changes nothing. Importing it loads the client, which takes a
second: only what talks to a cluster does.
"""

from springtide.edge.cluster.errors import (
    ClusterFault,
    Denied,
    Failing,
    Gone,
    Malformed,
    NotServed,
    Throttled,
    Unreachable,
    Unusable,
)
from springtide.edge.kube.asking import Patience
from springtide.edge.kube.cluster import KubeCluster
from springtide.edge.kube.connection import REQUEST_TIMEOUT_S, Access, Connection, connect
from springtide.edge.kube.informer import Waiting
from springtide.edge.kube.looking import Follower, TokenReviews
from springtide.edge.kube.reading import Harvest, harvest
from springtide.edge.kube.services import Page, looked_at
from springtide.edge.kube.transport import Answer

__all__ = [
    "REQUEST_TIMEOUT_S",
    "Access",
    "Answer",
    "ClusterFault",
    "Connection",
    "Denied",
    "Failing",
    "Follower",
    "Gone",
    "Harvest",
    "KubeCluster",
    "Malformed",
    "NotServed",
    "Page",
    "Patience",
    "Throttled",
    "TokenReviews",
    "Unreachable",
    "Unusable",
    "Waiting",
    "connect",
    "harvest",
    "looked_at",
]

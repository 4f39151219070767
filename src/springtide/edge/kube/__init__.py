"""A live cluster, read through its API server; nothing is ever written there.

`kubeconfig` finds out which cluster is meant, `connection` asks it by the official client's
transport, `asking` retries what passes, `listing` gathers one kind page by page, `reading` all of
them; `errors` lists what can go wrong. Importing it loads the client, which takes a second: only
what talks to a cluster does.
"""

from springtide.edge.kube.asking import Patience
from springtide.edge.kube.connection import REQUEST_TIMEOUT_S, Access
from springtide.edge.kube.errors import (
    Denied,
    Failing,
    Gone,
    KubeError,
    Malformed,
    NotServed,
    Throttled,
    Unreachable,
    Unusable,
)
from springtide.edge.kube.reading import Harvest, harvest

__all__ = [
    "REQUEST_TIMEOUT_S",
    "Access",
    "Denied",
    "Failing",
    "Gone",
    "Harvest",
    "KubeError",
    "Malformed",
    "NotServed",
    "Patience",
    "Throttled",
    "Unreachable",
    "Unusable",
    "harvest",
]

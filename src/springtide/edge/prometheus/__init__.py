"""The query API of Prometheus, and of whatever answers like it.

`asking` asks over HTTP within limits of time, size and number, `vector` reads what comes, and `errors` lists
what can go wrong. Answers that may be incomplete say so; nothing is guessed.
"""

from springtide.edge.prometheus.asking import Access, Prometheus
from springtide.edge.prometheus.errors import (
    Crowded,
    Malformed,
    PrometheusFault,
    Refused,
    TimedOut,
    TooLarge,
    Unreachable,
    Unusable,
)
from springtide.edge.prometheus.vector import Element, Vector, read_vector

__all__ = [
    "Access",
    "Crowded",
    "Element",
    "Malformed",
    "Prometheus",
    "PrometheusFault",
    "Refused",
    "TimedOut",
    "TooLarge",
    "Unreachable",
    "Unusable",
    "Vector",
    "read_vector",
]

"""What an extender answers: all fields of the protocol, as Go names them."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

SCORE_MAX: Final = 10
"""Scores of an extender are from 0 to this; kube-scheduler does not check it."""


class NodesKept(msgspec.Struct, frozen=True):
    """Nodes as they were sent."""

    items: list[msgspec.Raw]
    metadata: Mapping[str, str] = {}


class ExtenderFilterResult(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Which nodes pass, in the form in which they were asked about, and why the others do not.

    With a text in Error, the call as a whole has failed.
    """

    nodes: NodesKept | None = None
    node_names: list[str] | None = None
    failed_nodes: Mapping[str, str] | None = None
    failed_and_unresolvable_nodes: Mapping[str, str] | None = None
    error: str = ""


class ExtenderBindingResult(msgspec.Struct, frozen=True, rename="pascal"):
    """Without a text in Error, the pod is bound."""

    error: str = ""


class HostPriority(msgspec.Struct, frozen=True, rename="pascal"):
    """The score of one node."""

    host: str
    score: int


_ENCODER: Final = msgspec.json.Encoder()


def kept_names(names: Iterable[str]) -> bytes:
    """Return the answer that these nodes pass, to a call that named its nodes."""
    return _ENCODER.encode(ExtenderFilterResult(node_names=list(names)))


def kept_nodes(objects: Iterable[msgspec.Raw]) -> bytes:
    """Return the answer that these nodes pass, as they were sent."""
    return _ENCODER.encode(ExtenderFilterResult(nodes=NodesKept(list(objects))))


def failed_nodes(failed: Mapping[str, str], *, unresolvable: Mapping[str, str] = {}) -> bytes:
    """Return the answer that no node passes, and why; evicting pods cannot help the unresolvable."""
    return _ENCODER.encode(
        ExtenderFilterResult(
            failed_nodes=failed, failed_and_unresolvable_nodes=unresolvable or None
        )
    )


def filter_error(why: str) -> bytes:
    """Return the answer that a filter call as a whole has failed."""
    return _ENCODER.encode(ExtenderFilterResult(error=why))


def binding_result(error: str = "") -> bytes:
    """Return the answer to a bind call; without a text, the pod is bound."""
    return _ENCODER.encode(ExtenderBindingResult(error))


def priorities(scores: Mapping[str, int]) -> bytes:
    """Return the answer to a prioritize call."""
    return _ENCODER.encode([HostPriority(host, score) for host, score in scores.items()])

"""A question with all that is known, in pieces, as one process of ours asks another (`beside`).

Pieces are small enough to be written between other work: each is written by itself, because what
remembers the parts of all of them grows in leaps.
"""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.families import Policies
from springtide.apps.why.asked import Names
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.quotas import NamespaceQuota

RECORDS_AT_ONCE: Final = 400
"""So many take a few milliseconds to write."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What comes first: whom it is about, and how devices are chosen."""

    names: Names
    tells_all_nodes: bool = False
    policies: Policies = Policies()
    device_config: Mapping[str, object] | None = None
    quotas: tuple[NamespaceQuota, ...] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The answer as JSON; or, without one, why nobody can be told of, in a sentence."""

    report: msgspec.Raw = msgspec.Raw(b"null")
    unknown: str = ""


def piece(value: Question | Sequence[msgspec.Struct]) -> bytes:
    """Return the next piece; an empty sequence is the end of a kind."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


class Reader:
    """Reads what one of our own processes has written, and only that: pieces can run code."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._specs: dict[PodSpec, PodSpec] = {}

    def question(self) -> Question:
        """Return what comes first."""
        found = pickle.load(self._source)  # noqa: S301 - ours, as said
        assert isinstance(found, Question), type(found)
        return found

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes, which come next."""
        while some := pickle.load(self._source):  # noqa: S301
            yield from some

    def pods(self) -> Iterator[Pod]:
        """Yield the pods, which come last; equal specs are one object again."""
        while some := pickle.load(self._source):  # noqa: S301
            for pod in some:
                spec = self._specs.setdefault(pod.spec, pod.spec)
                yield pod if spec is pod.spec else replace(pod, spec=spec)

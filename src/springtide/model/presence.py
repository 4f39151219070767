"""Who stands where, as rules between pods see it: namespaces, labels, and what they think of others.

A `Presence` is all that another pod's rules read of a pod; replicas share one. `Presences` counts
them by row, and keeps for every question that was asked (`PodQuery`) how many pods of each row
answer it. Holding and releasing a pod changes one cell of each answer, so that a question is worked
out from all pods only once. A domain's number is the sum over its rows, whoever asks for it.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np

from springtide.base.selectors import Selector
from springtide.model.attitudes import Leaning, Repulsion, leanings, repulsions
from springtide.model.columns import Int64, Interner, grown
from springtide.model.leanings import Labels, Leanings, change
from springtide.model.pod import Pod, PodSpec
from springtide.model.preferences import Preferences

QUERIES_MAX: Final = 1024


class Presence(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """What rules between pods read of a pod that is there."""

    namespace: str
    labels: Labels = ()
    repulsions: tuple[Repulsion, ...] = ()
    leanings: tuple[Leaning, ...] = ()
    is_terminating: bool = False


class Scope(msgspec.Struct, frozen=True):
    """Pods with these labels, of these namespaces or, if None, of all."""

    selector: Selector
    namespaces: frozenset[str] | None

    def contains(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether a pod of this namespace with these labels is one of them."""
        is_inside = self.namespaces is None or namespace in self.namespaces
        return is_inside and self.selector.matches(labels)


class PodQuery(msgspec.Struct, frozen=True, cache_hash=True):
    """The pods that are in all scopes, with those that are being deleted or without."""

    scopes: tuple[Scope, ...]
    with_terminating: bool = True

    def contains(self, presence: Presence, labels: Mapping[str, str]) -> bool:
        """Return whether the pod counts; `labels` are the presence's as a map."""
        if presence.is_terminating and not self.with_terminating:
            return False
        return all(each.contains(presence.namespace, labels) for each in self.scopes)


def presence(
    namespace: str,
    labels: Labels,
    spec: PodSpec,
    *,
    is_terminating: bool = False,
    preferences: Preferences | None = None,
) -> Presence:
    """Return what a pod shows to others, whom it leans to only with its preferences."""
    return Presence(
        namespace=namespace,
        labels=labels,
        repulsions=repulsions(spec.neighbours.anti_affinity, namespace),
        leanings=() if preferences is None else leanings(spec.neighbours, preferences, namespace),
        is_terminating=is_terminating,
    )


def standing(
    pod: Pod, keys: frozenset[str] | None = None, *, with_leanings: bool = False
) -> Presence:
    """Return what a pod shows that is there, of its labels only those of these keys, if given.

    Whom it leans to is of use to scores alone, and parts pods that are alike otherwise. Scores read
    all labels.
    """
    return presence(
        pod.namespace,
        read_labels(pod, keys),
        pod.spec,
        is_terminating=pod.is_terminating,
        preferences=pod.preferences if with_leanings else None,
    )


def read_labels(pod: Pod, keys: frozenset[str] | None) -> Labels:
    """Return the pod's labels in order, only those of these keys, if given."""
    labels = pod.labels.items()
    return tuple(sorted(each for each in labels if keys is None or each[0] in keys))


class Presences:
    """All presences of one ledger by row, and the answers to what was asked about them."""

    def __init__(self, rows: int) -> None:
        self._kinds: Interner[Presence] = Interner()
        self._labels: list[dict[str, str]] = []
        self._counts: list[dict[int, int]] = []
        self._answers: dict[PodQuery, Int64] = {}
        self._answering: list[list[Int64] | None] = []
        self._rows = rows
        self.version = 0
        """Another number whenever an answer has changed, or whom pods repel."""
        self.repulsions: Interner[Repulsion] = Interner()
        self.repelling: dict[int, dict[int, int]] = {}
        """Code of a repulsion to how many pods on which rows have it; none without pods."""
        self.leanings = Leanings(rows)

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        self._rows = rows
        self._answers = {query: grown(each, rows) for query, each in self._answers.items()}
        self._answering = [None] * len(self._kinds)
        self.leanings.grow(rows)

    def count(self, row: int, presence: Presence, *, sign: int = 1) -> None:
        """Let one pod more (sign 1) or less (sign -1) be on the row."""
        kind = self._kind(presence)
        change(self._counts[kind], row, sign)
        answers = self._answers_about(kind)
        for answer in answers:
            answer[row] += sign
        if answers or presence.repulsions:
            self.version += 1
        for repulsion in presence.repulsions:
            code = self.repulsions.code(repulsion)
            rows = self.repelling.setdefault(code, {})
            change(rows, row, sign)
            if not rows:
                del self.repelling[code]
        if presence.leanings:
            self.leanings.count(row, presence.leanings, sign)

    def answer(self, query: PodQuery) -> Int64:
        """Return how many pods of each row the query is about. Shared: do not change it."""
        found = self._answers.get(query)
        if found is None:
            if len(self._answers) >= QUERIES_MAX:
                self._answers.clear()
                # What changes from now on is not followed in what was forgotten.
                self.version += 1
            found = self._answers[query] = self._counted(query)
            self._answering = [None] * len(self._kinds)
        return found

    def content(self) -> dict[Presence, dict[int, int]]:
        """Return how many pods of each kind are on which rows."""
        pairs = zip(self._kinds.values, self._counts, strict=True)
        return {presence: dict(rows) for presence, rows in pairs if rows}

    def repelling_content(self) -> dict[Repulsion, dict[int, int]]:
        """Return how many pods on which rows have each repulsion."""
        return {self.repulsions.values[code]: rows for code, rows in self.repelling.items()}

    def check(self, fresh: "Presences") -> None:
        """Assert that this counts exactly what was counted anew."""
        assert self.content() == fresh.content(), "presences have drifted"
        assert self.repelling_content() == fresh.repelling_content(), "repulsions have drifted"
        for query, answer in self._answers.items():
            expected = fresh.answer(query)
            shared = min(len(answer), len(expected))
            assert (answer[:shared] == expected[:shared]).all(), "an answer has drifted"
            assert not answer[shared:].any(), "an answer has drifted"
        self.leanings.check(fresh.leanings)

    def _kind(self, presence: Presence) -> int:
        kind = self._kinds.code(presence)
        if kind == len(self._labels):
            self._labels.append(dict(presence.labels))
            self._counts.append({})
            self._answering.append(None)
        return kind

    def _answers_about(self, kind: int) -> list[Int64]:
        found = self._answering[kind]
        if found is None:
            presence, labels = self._kinds.values[kind], self._labels[kind]
            found = self._answering[kind] = [
                answer
                for query, answer in self._answers.items()
                if query.contains(presence, labels)
            ]
        return found

    def _counted(self, query: PodQuery) -> Int64:
        answer: Int64 = np.zeros(self._rows, np.int64)
        for presence, labels, rows in zip(
            self._kinds.values, self._labels, self._counts, strict=True
        ):
            if rows and query.contains(presence, labels):
                answer[list(rows)] += list(rows.values())
        return answer

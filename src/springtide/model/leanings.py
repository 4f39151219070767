"""How much the pods of each row like a newcomer, for every newcomer that was asked about.

An answer is worked out from all pods once; holding and releasing a pod changes one cell of each
answer that it has a part in. What counts is a domain's sum over its rows, whoever asks for it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.model.attitudes import Leaning
from springtide.model.columns import Int64, Interner, grown

NEWCOMERS_MAX: Final = 1024
WEIGHT, PREFERRING, INSISTING = range(3)
"""The lines of an answer: the sum of weights, and how many terms of either kind there are."""

Labels = tuple[tuple[str, str], ...]
"""Sorted by key."""


class Newcomer(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """What pods that are there see of one that would come."""

    namespace: str
    labels: Labels
    namespace_labels: Labels


Answer = dict[str, Int64]
"""By node label, the three lines over all rows. Shared: do not change it."""


class Leanings:
    """All leanings of one ledger by row, and the answers for those who asked."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._leanings: Interner[Leaning] = Interner()
        self._counts: list[dict[int, int]] = []
        self._answers: dict[Newcomer, Answer] = {}
        self._answering: list[list[Answer] | None] = []

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        self._rows = rows
        self._answers = {
            newcomer: {key: grown(lines, rows, axis=1) for key, lines in answer.items()}
            for newcomer, answer in self._answers.items()
        }
        self._answering = [None] * len(self._leanings)

    def count(self, row: int, leanings: Sequence[Leaning], sign: int) -> None:
        """Let a pod with these leanings be on the row (sign 1), or not any more (sign -1)."""
        for leaning in leanings:
            code = self._code(leaning)
            change(self._counts[code], row, sign)
            for answer in self._answers_about(code):
                _add(self._lines(answer, leaning), leaning, row, sign)

    def answer(self, newcomer: Newcomer) -> Mapping[str, Int64]:
        """Return how the pods of each row lean to a newcomer, by the node label that they mean."""
        found = self._answers.get(newcomer)
        if found is None:
            if len(self._answers) >= NEWCOMERS_MAX:
                self._answers.clear()
            found = self._answers[newcomer] = self._counted(newcomer)
            self._answering = [None] * len(self._leanings)
        return found

    def content(self) -> dict[Leaning, dict[int, int]]:
        """Return how many pods on which rows have each leaning."""
        pairs = zip(self._leanings.values, self._counts, strict=True)
        return {leaning: dict(rows) for leaning, rows in pairs if rows}

    def check(self, fresh: "Leanings") -> None:
        """Assert that this counts exactly what was counted anew."""
        assert self.content() == fresh.content(), "leanings have drifted"
        for newcomer, answer in self._answers.items():
            expected = fresh.answer(newcomer)
            for key, lines in answer.items():
                wanted = expected.get(key, np.zeros((3, 0), np.int64))
                shared = min(lines.shape[1], wanted.shape[1])
                assert (lines[:, :shared] == wanted[:, :shared]).all(), "an answer has drifted"
                assert not lines[:, shared:].any(), "an answer has drifted"
            assert expected.keys() <= answer.keys(), "an answer has drifted"

    def _code(self, leaning: Leaning) -> int:
        code = self._leanings.code(leaning)
        if code == len(self._counts):
            self._counts.append({})
            self._answering.append(None)
        return code

    def _answers_about(self, code: int) -> list[Answer]:
        found = self._answering[code]
        if found is None:
            leaning = self._leanings.values[code]
            found = self._answering[code] = [
                answer
                for newcomer, answer in self._answers.items()
                if _concerns(leaning, newcomer, dict(newcomer.labels))
            ]
        return found

    def _lines(self, answer: Answer, leaning: Leaning) -> Int64:
        lines = answer.get(leaning.topology_key)
        if lines is None:
            lines = answer[leaning.topology_key] = np.zeros((3, self._rows), np.int64)
        return lines

    def _counted(self, newcomer: Newcomer) -> Answer:
        answer: Answer = {}
        labels = dict(newcomer.labels)
        for leaning, rows in zip(self._leanings.values, self._counts, strict=True):
            if rows and _concerns(leaning, newcomer, labels):
                counts = np.fromiter(rows.values(), np.int64, len(rows))
                _add(self._lines(answer, leaning), leaning, list(rows), counts)
        return answer


def change(rows: dict[int, int], row: int, sign: int) -> None:
    """Count one more (sign 1) or less (sign -1) on the row; rows without any are absent."""
    count = rows.get(row, 0) + sign
    if count:
        rows[row] = count
    else:
        del rows[row]


def _concerns(leaning: Leaning, newcomer: Newcomer, labels: Mapping[str, str]) -> bool:
    return leaning.concerns(newcomer.namespace, labels, dict(newcomer.namespace_labels))


def _add(lines: Int64, leaning: Leaning, rows: int | list[int], counts: int | Int64) -> None:
    """Count a leaning on rows, each of them named once."""
    if leaning.weight is None:
        lines[INSISTING, rows] += counts
    else:
        lines[WEIGHT, rows] += leaning.weight * counts
        lines[PREFERRING, rows] += counts

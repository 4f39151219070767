"""InterPodAffinity: a pod goes where the pods it needs are, and not where either side objects.

Near and away are meant within a domain of a node label. All affinity terms are about the same pods,
anti-affinity terms are each for themselves. Pods that are being deleted count until they are gone.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np

from springtide.base.selectors import MalformedSelector, compile_selector
from springtide.base.selectors.faults import joined
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.domains import Codes, domains
from springtide.engine.framework.recent import Recent
from springtide.engine.framework.rule import (
    SKIPPED,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
)
from springtide.model.columns import Bool
from springtide.model.leanings import Labels
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours
from springtide.model.presence import PodQuery, Scope
from springtide.model.refusal import Refusal

NOT_NEAR: Final = "node(s) didn't match pod affinity rules"
NOT_AWAY: Final = "node(s) didn't match pod anti-affinity rules"
REPELLED: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
NEIGHBOURS_CACHE_ENTRIES: Final = 4096

Marks = list[tuple[Codes, Bool]]
"""The domain of each row, and something that is true of some domains, for each of several keys."""


class InterPodAffinity:
    """The InterPodAffinity plugin of kube-scheduler."""

    name = "InterPodAffinity"
    reads = Reads.CLUSTER

    def __init__(self) -> None:
        self._recent: Recent[tuple[str, Labels], _Concerned] = Recent()

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Find the domains with pods that are wanted, not wanted, or do not want this one."""
        asked = ask.spec.neighbours
        if asked is ALONE and not ledger.presences.repelling:
            return SKIPPED
        found = faults_of(asked)
        if found:
            reason = f"parsing pod: {joined(found)}"
            return Rejected(Refusal(rule=self.name, reasons=(reason,), is_unresolvable=True))
        repelled = self._repelled(ask, ledger)
        if not (asked.affinity or asked.anti_affinity or repelled):
            return SKIPPED
        wanted, is_first = _wanted(asked.affinity, ask, ledger)
        unwanted = [
            _marked(term.topology_key, (scope_of(term, ask, ledger),), ledger)
            for term in asked.anti_affinity
        ]
        return Ready(_Affinity(wanted, unwanted, repelled, is_first=is_first))

    def _repelled(self, ask: PodAsk, ledger: Ledger) -> Marks:
        """Return the domains with pods that keep this one away."""
        presences = ledger.presences
        if not presences.repelling:
            return []
        key = (ask.namespace, ask.labels)
        concerned = self._recent.get(presences, key, lambda: _Concerned(ask, ledger))
        by_key: dict[str, list[int]] = {}
        for code in concerned.among(presences.repelling):
            found = by_key.setdefault(presences.repulsions.values[code].topology_key, [])
            found.extend(presences.repelling[code])
        marks: Marks = []
        for topology_key, rows in by_key.items():
            codes, size = domains(ledger, topology_key)
            has = _among(codes[rows], size)
            if has.any():
                marks.append((codes, has))
        return marks


def _wanted(terms: tuple[AffinityTerm, ...], ask: PodAsk, ledger: Ledger) -> tuple[Marks, bool]:
    """Return the domains with wanted pods, and whether the pod may be the first of its kind."""
    scopes = tuple(scope_of(term, ask, ledger) for term in terms)
    marks = [_marked(term.topology_key, scopes, ledger) for term in terms]
    labels = dict(ask.labels)
    is_first = not any(has.any() for _, has in marks) and all(
        scope.contains(ask.namespace, labels) for scope in scopes
    )
    return marks, is_first


def _marked(key: str, scopes: tuple[Scope, ...], ledger: Ledger) -> tuple[Codes, Bool]:
    codes, size = domains(ledger, key)
    pods = ledger.presences.answer(PodQuery(scopes))[: ledger.count]
    return codes, _among(codes[pods > 0], size)


class _Concerned:
    """Which repulsions of a ledger concern one kind of pod; follows those that come later."""

    def __init__(self, ask: PodAsk, ledger: Ledger) -> None:
        self._namespace = ask.namespace
        self._labels = dict(ask.labels)
        self._namespace_labels = ledger.namespaces.get(ask.namespace, {})
        self._repulsions = ledger.presences.repulsions
        self._answers: list[bool] = []

    def among(self, codes: Iterable[int]) -> list[int]:
        """Return those of the repulsions that keep the pod away."""
        for repulsion in self._repulsions.values[len(self._answers) :]:
            self._answers.append(
                repulsion.concerns(self._namespace, self._labels, self._namespace_labels)
            )
        return [code for code in codes if self._answers[code]]


class _Affinity:
    def __init__(self, wanted: Marks, unwanted: Marks, repelled: Marks, *, is_first: bool) -> None:
        self._wanted = wanted
        self._unwanted = unwanted
        self._repelled = repelled
        self._is_first = is_first

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        assert ledger.count == len(self._any_codes()), "the ask must be prepared again"
        far: Bool = np.zeros(len(selected.rows), np.bool_)
        for codes, has in self._wanted:
            here = codes[selected.cells]
            # Where nobody is wanted yet, the first of a group only needs the label.
            far |= here == 0 if self._is_first else ~has[here]
        near = _anywhere(self._unwanted, selected)
        repelled = _anywhere(self._repelled, selected)
        detail = np.where(far, np.uint64(1), np.where(near, np.uint64(2), np.uint64(4)))
        return Outcome(refused=far | near | repelled, unresolvable=far, detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        return ({1: NOT_NEAR, 2: NOT_AWAY, 4: REPELLED}[detail],)

    def _any_codes(self) -> Codes:
        return (*self._wanted, *self._unwanted, *self._repelled)[0][0]


def _anywhere(marks: Marks, selected: Selection) -> Bool:
    found: Bool = np.zeros(len(selected.rows), np.bool_)
    for codes, has in marks:
        found |= has[codes[selected.cells]]
    return found


def _among(codes: Codes, size: int) -> Bool:
    """Return for each code whether it is one of these; nodes without the label share no domain."""
    found: Bool = np.zeros(size, np.bool_)
    found[codes] = True
    found[0] = False
    return found


def scope_of(term: AffinityTerm, ask: PodAsk, ledger: Ledger) -> Scope:
    """Return the pods that a term of the pod is about, its namespaces resolved."""
    selector = compile_selector(term.selector)
    if term.namespace_selector is None:
        return Scope(selector, frozenset(term.namespaces or (ask.namespace,)))
    of_namespaces = compile_selector(term.namespace_selector)
    if of_namespaces.is_empty:
        return Scope(selector, None)
    found = (name for name, labels in ledger.namespaces.items() if of_namespaces.matches(labels))
    return Scope(selector, frozenset((*term.namespaces, *found)))


@lru_cache(maxsize=NEIGHBOURS_CACHE_ENTRIES)
def faults_of(asked: Neighbours) -> tuple[str, ...]:
    """Return what is wrong with the terms, the first fault of each list of them."""
    lists = (
        ("requiredAffinityTerms", asked.affinity),
        ("requiredAntiAffinityTerms", asked.anti_affinity),
        ("preferredAffinityTerms", asked.preferred_affinity),
        ("preferredAntiAffinityTerms", asked.preferred_anti_affinity),
    )
    return tuple(f"{name}: {fault}" for name, terms in lists if (fault := _fault(terms)))


def _fault(terms: tuple[AffinityTerm, ...]) -> str:
    for term in terms:
        try:
            compile_selector(term.selector)
            compile_selector(term.namespace_selector)
        except MalformedSelector as fault:
            return fault.reason
    return ""

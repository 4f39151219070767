"""InterPodAffinity: near the pods that this one likes, and where those that are there like it.

Weights add up over all pods of a node's domains. Pods that insist on having this one around count
too, with a weight that the profile states.
"""

import numpy as np

from springtide.base.selectors.faults import joined
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.domains import domains
from springtide.engine.framework.inter_pod_affinity import faults_of, scope_of
from springtide.engine.framework.rule import Broken, Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import SCORE_MAX, UNSCORED, Answer, Scored
from springtide.model.columns import Int64
from springtide.model.leanings import INSISTING, PREFERRING, WEIGHT, Newcomer
from springtide.model.ledger import Ledger
from springtide.model.preferences import Preferences
from springtide.model.presence import PodQuery


class InterPodAffinity:
    """The scores of the InterPodAffinity plugin of kube-scheduler."""

    name = "InterPodAffinity"

    def __init__(self, *, required_weight: int, ignores_others: bool) -> None:
        self._required_weight = required_weight
        self._ignores_others = ignores_others

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Add up the weights of each domain."""
        liked = ask.preferences
        # A profile that ignores the others' preferences does so for pods without any of their own.
        if self._ignores_others and not (liked.near or liked.away):
            return UNSCORED
        faults = faults_of(ask.framework.spec.neighbours)
        if faults:
            return Broken(f"parsing pod: {joined(faults)}")
        sums = _Sums(ledger, selected)
        _add_own(liked, ask.framework, ledger, sums)
        for key, lines in ledger.presences.leanings.answer(
            _newcomer(ask.framework, ledger)
        ).items():
            here = lines[:, : ledger.count]
            weights, terms = here[WEIGHT], here[PREFERRING]
            if self._required_weight > 0:
                weights = weights + self._required_weight * here[INSISTING]
                terms = terms + here[INSISTING]
            sums.add(key, weights, terms)
        return _compared(sums.total) if sums.has_any else UNSCORED


class _Sums:
    """What the selected rows have gathered so far."""

    def __init__(self, ledger: Ledger, selected: Selection) -> None:
        self._ledger = ledger
        self._cells = selected.cells
        self.total: Int64 = np.zeros(len(selected.rows), np.int64)
        self.has_any = False

    def add(self, key: str, weights: Int64, terms: Int64) -> None:
        """Spread the weights on all rows over the domains of a label, where terms hold at all."""
        codes, size = domains(self._ledger, key)
        if not ((terms != 0) & (codes != 0)).any():
            return
        self.has_any = True
        # Sums of weights stay far below 2**53, so that floating point keeps them whole.
        found = np.bincount(codes, weights=weights, minlength=size).astype(np.int64)
        found[0] = 0
        self.total += found[codes[self._cells]]


def _add_own(liked: Preferences, pod: PodAsk, ledger: Ledger, sums: _Sums) -> None:
    for preferred, sign in ((liked.near, 1), (liked.away, -1)):
        for each in preferred:
            query = PodQuery((scope_of(each.term, pod, ledger),))
            pods = ledger.presences.answer(query)[: ledger.count]
            sums.add(each.term.topology_key, sign * each.weight * pods, pods)


def _newcomer(pod: PodAsk, ledger: Ledger) -> Newcomer:
    labels = ledger.namespaces.get(pod.namespace, {})
    return Newcomer(
        namespace=pod.namespace,
        labels=pod.labels,
        namespace_labels=tuple(sorted(labels.items())),
    )


def _compared(raw: Int64) -> Scored:
    """Return the place of each row between the lowest and the highest sum."""
    if not len(raw):
        return Scored(raw, raw)
    lowest = int(raw.min())
    span = int(raw.max()) - lowest
    if span == 0:
        return Scored(raw, np.zeros_like(raw))
    return Scored(raw, (SCORE_MAX * ((raw - lowest) / span)).astype(np.int64))

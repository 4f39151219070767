"""DynamicResources: nodes on which earlier alternatives of the pod's claims can be met are better."""

import numpy as np

from springtide.engine.framework import dynamic_resources
from springtide.engine.framework.claims_check import ClaimsCheck
from springtide.engine.framework.rule import Ready, Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import Answer, as_is, proportional
from springtide.model.ledger import Ledger


class DynamicResources:
    """The DynamicResources plugin of kube-scheduler, by what the filter of that name finds."""

    name = dynamic_resources.DynamicResources.name

    def __init__(self, rule: dynamic_resources.DynamicResources) -> None:
        self._rule = rule

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Return how early the alternatives are; a pod without claims likes all nodes alike."""
        prepared = self._rule.prepare(ask.framework, ledger)
        if not isinstance(prepared, Ready) or not isinstance(prepared.check, ClaimsCheck):
            return as_is(np.zeros(len(selected.rows), np.int64))
        scores = prepared.check.scores(ledger, selected.rows.tolist())
        return proportional(np.array(scores, np.int64))

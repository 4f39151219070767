"""Scores of DynamicResources."""

import numpy as np

from springtide.engine.framework import dynamic_resources
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.rule import selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.dynamic_resources import DynamicResources
from springtide.engine.scoring.scorer import Scored
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from tests.builders import node
from tests.offers import (
    ByAttribute,
    claim,
    claiming,
    content,
    first_of,
    objects,
    offered,
    request,
    sliced,
)

FOUND = objects(
    sliced(offered("d0"), offered("d1"), node="two"),
    sliced(offered("d0"), node="one"),
    claim(asked=content(first_of(request("s0", 2), request("s1", 1)))),
)


def scored(pending: Pod) -> tuple[list[int], list[int]]:
    """Return the raw and the normalised scores of two nodes."""
    ledger = Ledger()
    for name in ("two", "one"):
        ledger.add_node(node(name))
    scorer = DynamicResources(dynamic_resources.DynamicResources(FOUND, ByAttribute()))
    ask = ScoreAsk(framework=ask_of(pending, devices=FOUND))
    answer = scorer.score(ask, ledger, selection(np.arange(ledger.count)))
    assert isinstance(answer, Scored)
    return answer.raw.tolist(), answer.normalised.tolist()


def test_nodes_on_which_an_earlier_alternative_works_are_better() -> None:
    assert scored(claiming("mine")) == ([8, 7], [100, 87])


def test_a_pod_without_claims_likes_all_nodes_alike() -> None:
    assert scored(claiming()) == ([0, 0], [0, 0])

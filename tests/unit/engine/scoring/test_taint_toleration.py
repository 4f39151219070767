"""TaintToleration scores: taints that would rather not have the pod."""

import numpy as np
from msgspec.structs import replace

from springtide.base.taints import Taint, Toleration
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.scoring import Scoring
from springtide.model.node import Node
from tests.unit.engine.scoring.scored import ledger_of, node, of_plugin, pod, scores, values

NAME = "TaintToleration"
SOFT = Taint(key="soft", effect="PreferNoSchedule")
OTHER = Taint(key="other", effect="PreferNoSchedule")
HARD = Taint(key="hard", effect="NoSchedule")


def tainted(name: str, *taints: Taint) -> Node:
    return replace(node(name), taints=taints)


def test_fewer_soft_taints_are_better() -> None:
    nodes = [tainted("none", HARD), tainted("one", SOFT), tainted("two", SOFT, OTHER)]

    found = of_plugin(NAME, scores(pod({}), nodes))

    assert values(found.raw) == [0, 1, 2]
    assert values(found.normalised) == [100, 50, 0]


def test_tolerated_taints_do_not_count() -> None:
    pending = pod({})
    tolerating = Toleration(key="soft", operator="Exists")
    hard_only = Toleration(key="other", operator="Exists", effect="NoSchedule")
    spec = replace(pending.spec, tolerations=(tolerating, hard_only))

    found = scores(replace(pending, spec=spec), [tainted("n", SOFT, OTHER)])

    assert values(of_plugin(NAME, found).raw) == [1]


def test_nodes_that_come_later_are_counted_too() -> None:
    ledger, scoring, ask = ledger_of([tainted("a", SOFT)]), Scoring(), score_ask_of(pod({}))
    scoring.score(ask, ledger, np.arange(1))
    ledger.add_node(tainted("b", SOFT, OTHER))

    found = scoring.score(ask, ledger, np.arange(2))

    assert values(of_plugin(NAME, found).raw) == [1, 2]

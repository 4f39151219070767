"""All score plugins together: weights, skips, errors and the best row."""

import numpy as np

from springtide.base.selectors import label_selector
from springtide.engine.framework.rule import Broken
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.config import WEIGHTS, ScoringConfig
from springtide.engine.scoring.scorer import UNSCORED, Answer, as_is
from springtide.engine.scoring.scoring import Scores, Scoring
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.preferences import Preferences, PreferredNodes, PreferredPods
from tests.builders import term
from tests.unit.engine.scoring.scored import Given, ledger_of, node, pod, scores, values

EVERYONE = label_selector({})
NODES = [node(name, {"cpu": "4", "memory": "8Gi"}) for name in "abc"]


class Last:
    def choice_index(self, count: int) -> int:
        return count - 1


def scored(config: ScoringConfig, **answers: Answer) -> Scores:
    others = {name: Given(name, answer) for name, answer in answers.items()}
    scoring = Scoring(config, others=others)
    return scoring.score(score_ask_of(pod({})), ledger_of(NODES), np.arange(len(NODES)))


def alike(score: int) -> Answer:
    return as_is(np.full(len(NODES), score))


def weighed(**weights: int) -> ScoringConfig:
    return ScoringConfig(weights=tuple(weights.items()))


def test_totals_add_up_scores_by_weight_and_those_of_extenders_tenfold() -> None:
    config = weighed(TaintToleration=3, NodeAffinity=2, NodeResourcesFit=1)

    found = scored(
        config, TaintToleration=alike(100), NodeAffinity=alike(50), NodeResourcesFit=alike(37)
    )
    extended = found.with_extender(np.array([7, 0, 10]), weight=2)

    assert values(found.totals) == [437, 437, 437]
    assert values(extended.totals) == [577, 437, 637]


def test_every_plugin_of_a_default_profile_has_its_say_or_is_skipped() -> None:
    found = scores(pod({"cpu": "1"}), NODES)

    told = {each.name: each.weight for each in found.plugins} | dict.fromkeys(found.skipped, 0)
    assert told.keys() == dict(WEIGHTS).keys()
    assert set(found.skipped) == {"NodeAffinity", "PodTopologySpread", "InterPodAffinity"}


def test_the_best_row_has_the_highest_total() -> None:
    found = scored(weighed(TaintToleration=1), TaintToleration=as_is(np.array([1, 5, 5])))

    assert found.best() == 1
    assert found.best(Last()) == 2


def test_only_the_rows_that_were_asked_about_are_scored() -> None:
    ledger = ledger_of(NODES, [pod({"cpu": "2", "memory": "4Gi"}, name="x", on="a")])

    found = Scoring().score(score_ask_of(pod({"cpu": "1"})), ledger, np.array([0, 2]))

    assert len(found.totals) == 2
    assert found.best() == 2


def test_a_plugin_that_cannot_work_ends_the_attempt() -> None:
    found = scored(weighed(TaintToleration=1, NodeAffinity=1), NodeAffinity=Broken("why"))

    assert found.error == 'running PreScore plugin "NodeAffinity": why'
    assert not found.plugins


def test_a_plugin_without_a_weight_is_prepared_all_the_same() -> None:
    config = ScoringConfig(weights=(("ImageLocality", 1),), prepared=("NodeAffinity",))

    skipping = scored(config, NodeAffinity=UNSCORED)
    silent = scored(config, NodeAffinity=alike(50))
    failing = scored(config, NodeAffinity=Broken("why"))

    assert skipping.skipped == ("NodeAffinity",)
    assert [each.name for each in silent.plugins] == ["ImageLocality"]
    assert values(silent.totals) == [0, 0, 0]
    assert failing.error


def test_a_plugin_that_was_not_prepared_may_be_unable_to_score() -> None:
    config = ScoringConfig(weights=(("TaintToleration", 1),), prepared=())

    found = scored(config, TaintToleration=alike(50))

    assert found.error == (
        'running Score plugin "TaintToleration": reading "PreScoreTaintToleration" from '
        "cycleState: not found"
    )


def test_no_rows_have_no_scores() -> None:
    liked = PreferredPods(5, AffinityTerm(topology_key=HOSTNAME_LABEL, selector=EVERYONE))
    soft = SpreadConstraint(
        max_skew=1, topology_key=HOSTNAME_LABEL, is_hard=False, selector=EVERYONE
    )
    pending = pod(
        {"cpu": "1"},
        neighbours=Neighbours(spread=(soft,)),
        preferences=Preferences(near=(liked,), nodes=(PreferredNodes(1, term("a", "Exists")),)),
    )
    ledger = ledger_of(NODES, [pod({}, name="x", on="a")])

    found = Scoring().score(score_ask_of(pending), ledger, np.arange(0))

    assert not found.error
    assert not found.skipped
    assert not len(found.totals)

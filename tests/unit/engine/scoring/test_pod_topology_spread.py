"""PodTopologySpread scores: few equal pods in a node's domains are better."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.base.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    compile_selector,
    label_selector,
)
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scoring import PluginScores, Scores, Scoring
from springtide.model.neighbours import Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod
from tests.unit.engine.scoring.scored import ledger_of, node, of_plugin, pod, scores, values

NAME = "PodTopologySpread"
ZONE = "topology.kubernetes.io/zone"
APP = {"app": "a"}


def spread(key: str, *, skew: int = 1, selector: LabelSelector | None = None) -> SpreadConstraint:
    return SpreadConstraint(
        max_skew=skew, topology_key=key, is_hard=False, selector=selector or label_selector(APP)
    )


def asking(*constraints: SpreadConstraint) -> Pod:
    return pod({}, labels=APP, neighbours=Neighbours(spread=constraints))


def in_zone(name: str, zone: str = "") -> Node:
    labels = {HOSTNAME_LABEL: name, **({ZONE: zone} if zone else {})}
    return node(name, labels=labels)


def apps(counts: Mapping[str, int]) -> list[Pod]:
    return [
        pod({}, name=f"{name}-{index}", on=name, labels=APP)
        for name, count in counts.items()
        for index in range(count)
    ]


def spread_scores(pending: Pod, nodes: Sequence[Node], running: Sequence[Pod]) -> PluginScores:
    return of_plugin(NAME, scores(pending, nodes, running))


@pytest.mark.parametrize(
    ("skew", "counts", "raw", "normalised"),
    [
        pytest.param(1, [2, 1, 0, 3], [4, 2, 0, 5], [20, 60, 100, 0], id="C17"),
        pytest.param(1, [4, 2, 1], [6, 3, 2], [33, 83, 100], id="C18"),
        pytest.param(3, [2, 1, 0, 3], [6, 4, 2, 7], [42, 71, 100, 28], id="C19"),
        pytest.param(1, [0, 0], [0, 0], [100, 100], id="C20"),
    ],
)
def test_the_emptier_of_equal_nodes_is_better(
    skew: int, counts: list[int], raw: list[int], normalised: list[int]
) -> None:
    nodes = [node(f"n{index}") for index in range(len(counts))]
    running = apps({each.name: count for each, count in zip(nodes, counts, strict=True)})

    found = spread_scores(asking(spread(HOSTNAME_LABEL, skew=skew)), nodes, running)

    assert values(found.raw) == raw
    assert values(found.normalised) == normalised


def test_a_domain_counts_the_pods_of_all_its_nodes() -> None:
    nodes = [in_zone("a1", "a"), in_zone("a2", "a"), in_zone("b1", "b")]

    found = spread_scores(asking(spread(ZONE)), nodes, apps({"a2": 2, "b1": 1}))

    assert values(found.raw) == [3, 3, 1]


def test_a_node_without_the_label_gets_nothing() -> None:
    nodes = [in_zone("a", "a"), in_zone("bare"), in_zone("b", "b")]

    found = spread_scores(asking(spread(ZONE)), nodes, apps({"a": 1}))

    assert values(found.normalised) == [0, 0, 100]


def test_without_soft_constraints_nothing_is_scored() -> None:
    hard = replace(spread(ZONE), is_hard=True)

    found = scores(asking(hard), [in_zone("a", "a")])

    assert NAME in found.skipped


def test_a_malformed_selector_ends_the_attempt() -> None:
    wrong = LabelSelectorRequirement(key="app", operator="Exists", values=("x",))

    found = scores(asking(spread(ZONE, selector=label_selector({}, [wrong]))), [in_zone("a", "a")])

    assert found.error.startswith(
        'running PreScore plugin "PodTopologySpread": calculating preScoreState: obtaining pod\'s '
        "soft topology spread constraints: "
    )
    assert not found.plugins


def by_default(config: ScoringConfig | None, app: str) -> Scores:
    nodes = [in_zone("a", "a"), in_zone("bare"), in_zone("b", "b")]
    ledger = ledger_of(nodes, apps({"a": 1, "bare": 2}))
    selector = compile_selector(label_selector({"app": app} if app else {}))
    ask = score_ask_of(pod({}, labels=APP), selector)
    return Scoring(config).score(ask, ledger, np.arange(ledger.count))


def test_pods_that_something_selects_are_spread_by_default() -> None:
    found = of_plugin(NAME, by_default(None, "a"))

    # The node without a zone is compared by its hostname alone.
    assert values(found.raw) == [9, 5, 6]


def test_defaults_of_a_profile_leave_out_nodes_without_their_labels() -> None:
    config = ScoringConfig(
        default_spread=(spread(HOSTNAME_LABEL), spread(ZONE)), is_system_spread=False
    )

    found = of_plugin(NAME, by_default(config, "a"))

    assert values(found.raw) == [3, 0, 0]
    assert values(found.normalised) == [0, 0, 100]


def test_pods_that_nothing_selects_are_not_spread_by_default() -> None:
    assert NAME in by_default(None, "").skipped

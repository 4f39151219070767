"""NodeAffinity scores: the weights of preferred terms."""

from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.scoring.config import ScoringConfig
from springtide.model.preferences import Preferences, PreferredNodes
from tests.builders import term
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values

NAME = "NodeAffinity"
NODES = [
    node("a", labels={"zone": "x", "disk": "ssd"}),
    node("b", labels={"zone": "x"}),
    node("c", labels={}),
]
NOTHING = PreferredNodes(9, NodeSelectorTerm())


def test_weights_of_all_terms_that_are_met_add_up() -> None:
    liked = (PreferredNodes(3, term("zone", "In", "x")), PreferredNodes(5, term("disk", "Exists")))

    found = of_plugin(NAME, scores(pod({}, preferences=Preferences(nodes=liked)), NODES))

    assert values(found.raw) == [8, 3, 0]
    assert values(found.normalised) == [100, 37, 0]


def test_a_profile_adds_its_own() -> None:
    config = ScoringConfig(preferred_nodes=(PreferredNodes(4, term("zone", "Exists")), NOTHING))

    found = of_plugin(NAME, scores(pod({}), NODES, config=config))

    assert values(found.raw) == [4, 4, 0]


def test_an_empty_term_is_met_nowhere_but_is_a_preference() -> None:
    found = scores(pod({}, preferences=Preferences(nodes=(NOTHING,))), NODES)

    assert values(of_plugin(NAME, found).raw) == [0, 0, 0]


def test_a_pod_without_preferences_is_not_scored() -> None:
    assert NAME in scores(pod({}), NODES).skipped


def test_a_malformed_term_ends_the_attempt() -> None:
    liked = (PreferredNodes(3, term("zone", "Exists")), PreferredNodes(5, term("rank", "Gt")))

    found = scores(pod({}, preferences=Preferences(nodes=liked)), NODES)

    assert found.error == (
        'running PreScore plugin "NodeAffinity": [1].matchExpressions[0].values: Invalid value: '
        "[]: for 'Gt', 'Lt' operators, exactly one value is required"
    )


def test_a_malformed_term_without_weight_is_passed_over() -> None:
    liked = (PreferredNodes(0, term("rank", "Gt")), PreferredNodes(5, term("zone", "Exists")))

    found = scores(pod({}, preferences=Preferences(nodes=liked)), NODES)

    assert values(of_plugin(NAME, found).raw) == [5, 5, 0]

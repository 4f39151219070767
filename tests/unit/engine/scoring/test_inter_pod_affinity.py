"""InterPodAffinity scores: near what a pod likes, and where it is liked."""

from collections.abc import Sequence

import pytest

from springtide.base.selectors import LabelSelectorRequirement, label_selector
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scoring import PluginScores
from springtide.model.neighbours import AffinityTerm, Neighbours
from springtide.model.pod import Pod
from springtide.model.preferences import Preferences, PreferredPods
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values

NAME = "InterPodAffinity"
NODES = [node(name, labels={"zone": zone}) for name, zone in (("a", "x"), ("b", "y"), ("c", "z"))]


def term(app: str, key: str = "zone") -> AffinityTerm:
    return AffinityTerm(topology_key=key, selector=label_selector({"app": app}))


def liking(app: str, weight: int, key: str = "zone") -> PreferredPods:
    return PreferredPods(weight, term(app, key))


def web(
    *, on: str = "", near: Sequence[PreferredPods] = (), away: Sequence[PreferredPods] = ()
) -> Pod:
    preferences = Preferences(near=tuple(near), away=tuple(away))
    return pod({}, name=f"web-{on}", on=on, labels={"app": "web"}, preferences=preferences)


def other(app: str, on: str, neighbours: Neighbours | None = None) -> Pod:
    asked = neighbours or Neighbours()
    return pod({}, name=f"{app}-{on}", on=on, labels={"app": app}, neighbours=asked)


def affinity_scores(
    pending: Pod, running: Sequence[Pod], config: ScoringConfig | None = None
) -> PluginScores:
    return of_plugin(NAME, scores(pending, NODES, running, config))


def test_weights_add_up_over_liked_and_disliked_pods() -> None:
    pending = web(near=[liking("db", 5)], away=[liking("noise", 5)])

    found = affinity_scores(pending, [other("noise", "a"), other("db", "c")])

    assert values(found.raw) == [-5, 0, 5]
    assert values(found.normalised) == [0, 50, 100]


def test_pods_that_are_there_have_their_say() -> None:
    running = [web(on="a", near=[liking("web", 30)]), web(on="b", away=[liking("web", 20)])]

    found = affinity_scores(web(), running)

    assert values(found.raw) == [30, -20, 0]


@pytest.mark.parametrize(("weight", "expected"), [(1, [1, 0, 0]), (40, [40, 0, 0])])
def test_whom_a_pod_insists_on_counts_with_the_weight_of_the_profile(
    weight: int, expected: list[int]
) -> None:
    insisting = other("db", "a", Neighbours(affinity=(term("web"),)))

    found = affinity_scores(web(), [insisting], ScoringConfig(required_affinity_weight=weight))

    assert values(found.raw) == expected


def test_without_a_weight_nobody_insists() -> None:
    insisting = other("db", "a", Neighbours(affinity=(term("web"),)))

    found = scores(web(), NODES, [insisting], ScoringConfig(required_affinity_weight=0))

    assert NAME in found.skipped


def test_terms_about_a_label_that_no_node_has_say_nothing() -> None:
    found = scores(web(near=[liking("db", 5, "rack")]), NODES, [other("db", "a")])

    assert NAME in found.skipped


def test_a_profile_may_ignore_the_preferences_of_others_for_pods_without_their_own() -> None:
    config = ScoringConfig(ignores_preferences_of_others=True)
    running = [web(on="a", near=[liking("web", 30)]), other("db", "b")]

    ignoring = scores(web(), NODES, running, config)
    own = affinity_scores(web(near=[liking("db", 5)]), running, config)

    assert NAME in ignoring.skipped
    assert values(own.raw) == [30, 5, 0]


def test_equal_sums_are_worth_nothing() -> None:
    running = [other("db", name) for name in "abc"]

    found = affinity_scores(web(near=[liking("db", 5)]), running)

    assert values(found.raw) == [5, 5, 5]
    assert values(found.normalised) == [0, 0, 0]


def test_a_malformed_term_ends_the_attempt() -> None:
    wrong = LabelSelectorRequirement(key="app", operator="Exists", values=("x",))
    malformed = AffinityTerm(topology_key="zone", selector=label_selector({}, [wrong]))
    pending = pod({}, neighbours=Neighbours(preferred_affinity=(malformed,)))

    found = scores(pending, NODES)

    assert found.error.startswith(
        'running PreScore plugin "InterPodAffinity": parsing pod: preferredAffinityTerms: '
    )

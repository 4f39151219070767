"""Leanings: how much the pods of each row like a newcomer."""

from springtide.base.selectors import LabelSelectorRequirement, label_selector
from springtide.model.leanings import NEWCOMERS_MAX, Newcomer
from springtide.model.ledger import Holding, Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours
from springtide.model.pod import PodSpec
from springtide.model.preferences import Preferences, PreferredPods
from springtide.model.presence import Presence, presence
from tests.builders import node

WEB = Newcomer(namespace="default", labels=(("app", "web"),), namespace_labels=())
WRONG = label_selector({}, [LabelSelectorRequirement(key="a", operator="Exists", values=("x",))])


def term(app: str = "web", key: str = "zone") -> AffinityTerm:
    return AffinityTerm(topology_key=key, selector=label_selector({"app": app}))


def leaning(
    *, near: tuple[PreferredPods, ...] = (), away: tuple[PreferredPods, ...] = (),
    required: tuple[AffinityTerm, ...] = (), namespace: str = "default",
) -> Presence:  # fmt: skip
    spec = PodSpec(neighbours=Neighbours(affinity=required))
    preferences = Preferences(near=near, away=away)
    return presence(namespace, (), spec, preferences=preferences)


def ledger_of(*presences: Presence) -> Ledger:
    ledger = Ledger()
    for index, each in enumerate(presences):
        ledger.add_node(node(f"node-{index}"))
        ledger.hold(Holding(uid=f"pod-{index}", row=index, presence=each))
    return ledger


def answered(ledger: Ledger, newcomer: Newcomer = WEB) -> dict[str, list[list[int]]]:
    found = ledger.presences.leanings.answer(newcomer)
    return {key: lines[:, : ledger.count].tolist() for key, lines in found.items()}


def test_an_answer_tells_weights_and_how_many_terms_there_are() -> None:
    ledger = ledger_of(
        leaning(near=(PreferredPods(5, term()), PreferredPods(7, term("other")))),
        leaning(away=(PreferredPods(3, term()),), required=(term(),)),
        leaning(near=(PreferredPods(9, term(key="rack")),), namespace="elsewhere"),
    )

    assert answered(ledger) == {"zone": [[5, -3, 0], [1, 1, 0], [0, 1, 0]]}


def test_an_answer_follows_pods_that_come_and_go() -> None:
    ledger = ledger_of(leaning(near=(PreferredPods(5, term()),)), leaning())
    answered(ledger)

    ledger.hold(Holding(uid="new", row=1, presence=leaning(required=(term(key="rack"),))))
    with_new = answered(ledger)
    ledger.release("pod-0")

    assert with_new == {"zone": [[5, 0], [1, 0], [0, 0]], "rack": [[0, 0], [0, 0], [0, 1]]}
    assert answered(ledger)["zone"] == [[0, 0], [0, 0], [0, 0]]
    ledger.check()


def test_an_answer_follows_rows_beyond_the_first_ones() -> None:
    ledger = ledger_of(leaning(near=(PreferredPods(5, term()),)))
    answered(ledger)

    for index in range(200):
        ledger.add_node(node(f"late-{index}"))
    ledger.hold(Holding(uid="late", row=200, presence=leaning(near=(PreferredPods(2, term()),))))

    assert answered(ledger)["zone"][0] == [5, *[0] * 199, 2]
    ledger.check()


def test_a_malformed_term_voids_its_own_list_only() -> None:
    wrong = AffinityTerm(topology_key="zone", selector=WRONG)
    ledger = ledger_of(
        leaning(
            near=(PreferredPods(5, term()), PreferredPods(5, wrong)),
            away=(PreferredPods(3, term()),),
            required=(wrong, term()),
        )
    )

    assert answered(ledger) == {"zone": [[-3], [1], [0]]}


def test_no_more_answers_are_kept_than_allowed() -> None:
    ledger = ledger_of(leaning(near=(PreferredPods(5, term()),)))
    leanings = ledger.presences.leanings
    first = leanings.answer(WEB)

    for index in range(NEWCOMERS_MAX):
        leanings.answer(Newcomer(namespace=str(index), labels=(), namespace_labels=()))

    assert leanings.answer(WEB) is not first
    assert answered(ledger) == {"zone": [[5], [1], [0]]}

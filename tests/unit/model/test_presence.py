"""Presences: who is where, and questions that are answered by keeping count."""

from springtide.base.selectors import EVERYTHING, Selector, compile_selector, label_selector
from springtide.model.ledger import Holding, Ledger
from springtide.model.presence import (
    QUERIES_MAX,
    PodQuery,
    Presence,
    Scope,
    presence,
    read_labels,
    standing,
)
from tests.builders import away, node, pod

APP_A = compile_selector(label_selector({"app": "a"}))


def shown(app: str = "a", *, namespace: str = "default", is_terminating: bool = False) -> Presence:
    spec = pod(neighbours=away("zone", app)).spec
    return presence(namespace, (("app", app),), spec, is_terminating=is_terminating)


def ledger_of(*presences: Presence) -> Ledger:
    ledger = Ledger()
    for index, each in enumerate(presences):
        row = ledger.add_node(node(f"node-{index}"))
        ledger.hold(Holding(uid=f"pod-{index}", row=row, presence=each))
    return ledger


def query(selector: Selector = APP_A, *namespaces: str, with_terminating: bool = True) -> PodQuery:
    scope = Scope(selector, frozenset(namespaces) if namespaces else None)
    return PodQuery((scope,), with_terminating=with_terminating)


def counted(ledger: Ledger, asked: PodQuery) -> list[int]:
    found: list[int] = ledger.presences.answer(asked)[: ledger.count].tolist()
    return found


def test_an_answer_counts_the_pods_of_each_row() -> None:
    ledger = ledger_of(shown(), shown("b"), shown(namespace="x"), shown(is_terminating=True))

    assert counted(ledger, query()) == [1, 0, 1, 1]
    assert counted(ledger, query(EVERYTHING, "x")) == [0, 0, 1, 0]
    assert counted(ledger, query(with_terminating=False)) == [1, 0, 1, 0]


def test_the_version_tells_whether_an_answer_has_changed() -> None:
    ledger = ledger_of(shown())
    counted(ledger, query())
    versions = [ledger.presences.version]

    for uid, each in (
        ("asked about", Presence(namespace="default", labels=(("app", "a"),))),
        ("not asked about", Presence(namespace="default", labels=(("app", "b"),))),
        ("repelling", shown("b")),
    ):
        ledger.hold(Holding(uid=uid, row=0, presence=each))
        versions.append(ledger.presences.version)

    first, asked, other, repelling = versions
    assert first != asked
    assert asked == other
    assert other != repelling


def test_an_answer_follows_pods_that_come_and_go() -> None:
    ledger = ledger_of(shown(), shown("b"))
    counted(ledger, query())

    ledger.hold(Holding(uid="new", row=1, presence=shown()))
    with_new = counted(ledger, query())
    ledger.release("pod-0")

    assert with_new == [1, 1]
    assert counted(ledger, query()) == [0, 1]
    ledger.check()


def test_an_answer_follows_rows_beyond_the_first_ones() -> None:
    ledger = ledger_of(shown())
    counted(ledger, query())

    for index in range(200):
        ledger.add_node(node(f"late-{index}"))
    ledger.hold(Holding(uid="late", row=200, presence=shown()))

    assert sum(counted(ledger, query())) == 2
    ledger.check()


def test_answers_that_were_forgotten_for_others_are_worked_out_again() -> None:
    ledger = ledger_of(shown(), shown("b"))
    counted(ledger, query())
    for index in range(QUERIES_MAX):
        counted(ledger, query(EVERYTHING, f"team-{index}"))

    ledger.hold(Holding(uid="new", row=1, presence=shown()))

    assert counted(ledger, query()) == [1, 1]
    assert counted(ledger, query(EVERYTHING, "team-0")) == [0, 0]
    ledger.check()


def test_holdings_taken_all_at_once_are_seen_too() -> None:
    ledger = ledger_of(shown("b"))

    ledger.hold_all([Holding(uid=str(index), row=0, presence=shown()) for index in range(3)])

    assert counted(ledger, query()) == [3]
    ledger.check()


def test_repulsions_are_known_as_long_as_a_pod_has_them() -> None:
    ledger = ledger_of(shown(), shown())
    (code,) = ledger.presences.repelling

    ledger.release("pod-0")
    left = dict(ledger.presences.repelling[code])
    ledger.release("pod-1")

    assert left == {1: 1}
    assert ledger.presences.repelling == {}


def test_a_term_without_namespaces_is_about_the_pods_own() -> None:
    (repulsion,) = shown(namespace="x").repulsions

    assert repulsion.concerns("x", {"app": "a"}, {})
    assert not repulsion.concerns("default", {"app": "a"}, {})
    assert not repulsion.concerns("x", {"app": "b"}, {})


def test_only_labels_that_are_read_are_shown() -> None:
    labelled = pod(labels={"z": "1", "app": "a"})

    assert read_labels(labelled, None) == (("app", "a"), ("z", "1"))
    assert standing(labelled, frozenset({"app"})).labels == (("app", "a"),)

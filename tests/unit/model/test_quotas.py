"""What namespaces may hold, and what they do."""

import pytest

from springtide.model.ledger import Holding, Ledger
from springtide.model.quotas import Quotas
from tests.builders import node

LIMITS = {"a": {"memory": 10, "cores": 5}}


def ledger() -> Ledger:
    made = Ledger()
    made.quotas = Quotas(LIMITS)
    made.add_node(node("n"))
    return made


def holding(uid: str, *charges: tuple[str, int]) -> Holding:
    return Holding(uid=uid, row=0, namespace="a", charges=charges)


def test_what_is_left_follows_what_is_held() -> None:
    made = ledger()

    made.hold(holding("one", ("memory", 4), ("cores", 6)))
    made.hold_all([holding("two", ("memory", 1))])
    both = made.quotas.left("a")
    made.release("one")

    assert both == {"memory": 5, "cores": -1}
    assert made.quotas.left("a") == {"memory": 9, "cores": 5}
    made.check()


def test_a_namespace_without_limits_has_nothing_left_and_nothing_to_keep_to() -> None:
    quotas = Quotas(LIMITS)

    assert (dict(quotas.limited("b")), quotas.left("b"), quotas.used("b", "memory")) == ({}, {}, 0)


def test_pods_on_unknown_nodes_count_and_are_never_released() -> None:
    made = ledger()
    made.quotas.stand("a", (("memory", 3),))

    made.hold(holding("one", ("memory", 2)))
    made.release("one")

    assert made.quotas.counts() == {"a": {"memory": 3}}
    made.check()


def test_a_use_that_has_drifted_is_found() -> None:
    made = ledger()
    made.hold(holding("one", ("memory", 2)))

    made.quotas.count("a", (("memory", 1),))

    with pytest.raises(AssertionError, match="use of quotas has drifted"):
        made.check()


def test_what_a_pod_held_on_an_unknown_node_is_taken_off_once() -> None:
    quotas = Quotas(LIMITS)
    for _ in range(2):
        quotas.stand("a", (("memory", 4),))

    quotas.unstand("a", (("memory", 4),))

    assert quotas.counts() == quotas.unheld().counts() == {"a": {"memory": 4}}
    quotas.unstand("a", (("memory", 4),))
    assert quotas.counts() == {}
    with pytest.raises(AssertionError, match="nobody stands"):
        quotas.unstand("a", (("memory", 4),))

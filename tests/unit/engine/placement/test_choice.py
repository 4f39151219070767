"""Which of the nodes that take a pod gets it."""

import numpy as np

from springtide.engine.placement.choice import best_among, best_fit
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.model.device import Inventory, MigPlacement, Share
from springtide.model.ledger import Holding, Ledger
from tests.builders import cards, mig_card, node, pod
from tests.estimates import FAMILIES, tables_of


def ledger_of(count: int) -> Ledger:
    ledger = Ledger()
    for number in range(count):
        ledger.add_node(node(f"n{number}"), {"NVIDIA": Inventory("NVIDIA", cards(2))})
    return ledger


def use(ledger: Ledger, row: int, memory_mib: int) -> None:
    share = Share(position=0, memory_mib=memory_mib)
    ledger.hold(Holding(uid=f"used-{row}", row=row, shares=(("NVIDIA", (share,)),)))


def row_of(found: Placement | None) -> int | None:
    return None if found is None else found.row


def test_the_fullest_node_gets_the_pod_and_the_first_of_equals() -> None:
    ledger = ledger_of(4)
    classify = Classifier(FAMILIES).classify
    tables = tables_of(ledger)
    asked = classify(pod(gpu=1, gpumem=1000))

    assert row_of(best_fit(asked, tables)) == 0
    use(ledger, 2, 4000)
    assert row_of(best_fit(asked, tables)) == 2
    use(ledger, 1, 4000)
    assert row_of(best_fit(asked, tables)) == 1


def test_no_node_gets_a_pod_that_fits_nowhere() -> None:
    asked = Classifier(FAMILIES).classify(pod(gpu=3, gpumem=1000))

    assert best_fit(asked, tables_of(ledger_of(3))) is None
    assert best_fit(asked, tables_of(Ledger())) is None


def test_a_node_that_only_seems_to_fit_is_passed_over() -> None:
    ledger = Ledger()
    for number in range(2):
        ledger.add_node(node(f"n{number}"), {"NVIDIA": Inventory("NVIDIA", (mig_card(),))})
    taken = tuple(MigPlacement(start=start, size=2) for start in (0, 2, 4))
    share = Share(position=0, slots=1, memory_mib=1000, occupied=taken)
    ledger.hold(Holding(uid="instances", row=0, shares=(("NVIDIA", (share,)),)))
    asked = Classifier(FAMILIES).classify(pod(gpu=1, gpumem=10_000))
    tables = tables_of(ledger)

    found = best_fit(asked, tables)

    assert found is not None
    assert found.row == 1
    ledger.hold(holding("pod", asked, found))
    assert row_of(best_fit(asked, tables)) == 1


def test_of_some_rows_the_best_gets_the_pod_and_the_first_in_order_of_equals() -> None:
    ledger = ledger_of(5)
    tables = tables_of(ledger)
    asked = Classifier(FAMILIES).classify(pod(gpu=1, gpumem=1000))
    order = np.array([4, 3, 2, 1, 0])
    use(ledger, 4, 4000)

    equal = best_among(asked, tables, np.array([0, 1, 2]), order=order)
    best = best_among(asked, tables, np.array([0, 4, 1]), order=order)
    none = best_among(asked, tables, np.zeros(0, np.intp), order=order)

    assert (row_of(equal), row_of(best), none) == (2, 4, None)


def test_a_row_that_refuses_after_all_leaves_the_pod_to_the_next() -> None:
    ledger = Ledger()
    for name in ("a", "b"):
        ledger.add_node(node(name), {"NVIDIA": Inventory("NVIDIA", (mig_card(),))})
    taken = tuple(MigPlacement(start, 1) for start in (0, 2, 4, 6))
    share = Share(position=0, memory_mib=4000, occupied=taken)
    ledger.hold(Holding(uid="x", row=0, shares=(("NVIDIA", (share,)),)))
    asked = Classifier(FAMILIES).classify(pod(gpu=1, gpumem=20000))

    found = best_among(asked, tables_of(ledger), np.array([0, 1]), order=np.array([0, 1]))

    assert row_of(found) == 1

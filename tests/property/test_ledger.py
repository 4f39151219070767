"""Laws of the ledger: columns are the sum of the holdings, whatever happens in between."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.model.ledger import Holding, Ledger
from tests.ledgers import NODES, content, holdings_on, inventories_of

HOLDINGS = st.lists(st.integers(0, 5), min_size=1, max_size=12).flatmap(
    lambda kinds: st.tuples(
        st.just(kinds),
        st.lists(holdings_on(kinds), min_size=1, max_size=12, unique_by=lambda each: each.uid),
    )
)


def ledger_of(kinds: list[int]) -> Ledger:
    ledger = Ledger()
    for index, kind in enumerate(kinds):
        ledger.add_node(NODES[kind], inventories_of(kind), name=f"node-{index}")
    return ledger


@settings(max_examples=50)
@given(HOLDINGS)
def test_releasing_undoes_holding(drawn: tuple[list[int], list[Holding]]) -> None:
    kinds, (*held, last) = drawn
    ledger = ledger_of(kinds)
    for each in held:
        ledger.hold(each)
    before = content(ledger)

    ledger.hold(last)
    ledger.check()
    ledger.release(last.uid)

    assert content(ledger) == before


@settings(max_examples=50)
@given(HOLDINGS, st.randoms(use_true_random=False))
def test_the_order_of_holding_leaves_no_trace(
    drawn: tuple[list[int], list[Holding]], chance: Random
) -> None:
    kinds, held = drawn
    one, other = ledger_of(kinds), ledger_of(kinds)
    shuffled = list(held)
    chance.shuffle(shuffled)

    for each in held:
        one.hold(each)
    for each in shuffled:
        other.hold(each)

    assert content(one) == content(other)


@settings(max_examples=50)
@given(HOLDINGS)
def test_a_ledger_that_lost_every_holding_is_as_new(
    drawn: tuple[list[int], list[Holding]],
) -> None:
    kinds, held = drawn
    ledger = ledger_of(kinds)
    for each in held:
        ledger.hold(each)

    for each in held:
        ledger.release(each.uid)

    ledger.check()
    assert content(ledger) == content(ledger_of(kinds))
    assert ledger.overcommitted() == []

"""The overlay: hypothetical changes that can be taken back."""

import pytest

from springtide.model.device import Inventory, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.overlay import Overlay
from tests.builders import cards, node


def holding(uid: str, row: int = 0) -> Holding:
    share = Share(position=0, memory_mib=1000)
    return Holding(uid=uid, row=row, amounts=(("pods", 1),), shares=(("NVIDIA", (share,)),))


@pytest.fixture
def overlay() -> Overlay:
    ledger = Ledger()
    ledger.add_node(node("first"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    ledger.hold(holding("old"))
    return Overlay(ledger)


def test_revert_undoes_everything_since_the_fork(overlay: Overlay) -> None:
    overlay.fork()
    row = overlay.add_node(node("second"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    overlay.hold(holding("new", row))
    overlay.release("old")

    overlay.revert()

    assert overlay.depth == 0
    assert list(overlay.ledger.holdings) == ["old"]
    assert overlay.ledger.names == ["first"]
    overlay.ledger.check()


def test_inner_forks_are_reverted_alone(overlay: Overlay) -> None:
    overlay.fork()
    overlay.hold(holding("kept"))
    overlay.fork()
    overlay.hold(holding("dropped"))

    overlay.revert()

    assert list(overlay.ledger.holdings) == ["old", "kept"]
    assert overlay.depth == 1


def test_a_committed_level_belongs_to_the_one_below(overlay: Overlay) -> None:
    overlay.fork()
    overlay.fork()
    overlay.hold(holding("new"))

    overlay.commit()

    assert list(overlay.ledger.holdings) == ["old", "new"]
    overlay.revert()
    assert list(overlay.ledger.holdings) == ["old"]


def test_what_the_last_level_commits_stays(overlay: Overlay) -> None:
    overlay.fork()
    overlay.hold(holding("new"))
    overlay.commit()
    overlay.fork()

    overlay.revert()

    assert list(overlay.ledger.holdings) == ["old", "new"]


def test_a_change_outside_of_any_fork_cannot_be_reverted(overlay: Overlay) -> None:
    overlay.hold(holding("new"))
    overlay.fork()

    overlay.revert()

    assert "new" in overlay.ledger.holdings


def test_a_released_holding_comes_back_as_it_was(overlay: Overlay) -> None:
    before = overlay.ledger.holdings["old"]

    with overlay.trial():
        assert overlay.release("old") is before
        overlay.hold(holding("old"))
        overlay.release("old")

    assert overlay.ledger.holdings["old"] is before


def test_a_trial_is_reverted_even_if_it_fails(overlay: Overlay) -> None:
    def fail() -> None:
        with overlay.trial():
            overlay.hold(holding("new"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert "new" not in overlay.ledger.holdings
    assert overlay.depth == 0


def test_undoing_is_logged_like_doing(overlay: Overlay) -> None:
    overlay.fork()
    row = overlay.add_node(node("second"))
    overlay.hold(Holding(uid="new", row=row))
    overlay.release("old")
    position = overlay.ledger.changes.position

    overlay.revert()

    assert overlay.ledger.changes.since(position).tolist() == [0, row]


def test_an_inner_fork_left_open_in_a_trial_is_a_mistake(overlay: Overlay) -> None:
    with pytest.raises(AssertionError, match="left open"), overlay.trial():
        overlay.fork()


def test_there_is_nothing_to_revert_without_a_fork(overlay: Overlay) -> None:
    with pytest.raises(IndexError):
        overlay.revert()

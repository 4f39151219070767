"""Nested fork, revert and commit against a model that copies everything."""

from collections import Counter

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from springtide.model.ledger import Holding, Ledger
from springtide.model.overlay import Overlay
from tests.ledgers import NODES, content, holdings, inventories_of

KINDS = st.integers(0, len(NODES) - 1)
NOTHING = -1
"""The kind of a row without a node: there are no devices to hold."""


class Saved(msgspec.Struct):
    """What the naive model remembers at a fork: the whole ledger, and its nodes by kind."""

    content: dict[str, object]
    kinds: tuple[int, ...]


class Overlays(RuleBasedStateMachine):
    """One ledger under an overlay; beside it a stack of complete copies."""

    def __init__(self) -> None:
        super().__init__()
        self.overlay = Overlay(Ledger())
        self.kinds: list[int] = []
        self.saved: list[Saved] = []
        self.position = 0
        self.fresh = 0
        self.known: dict[int, object] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger under test."""
        return self.overlay.ledger

    @rule(kind=KINDS, count=st.sampled_from([1, 1, 2, 70]))
    def add_nodes(self, kind: int, count: int) -> None:
        """Add equal nodes; many at once outgrow the first rows."""
        for _ in range(count):
            name = f"node-{len(self.kinds) % 90}"
            self.overlay.add_node(NODES[kind], inventories_of(kind), name=name)
            self.kinds.append(kind)

    @precondition(lambda self: self.kinds)
    @rule(data=st.data())
    def hold(self, data: st.DataObject) -> None:
        """Let a pod that holds nothing hold something."""
        row = data.draw(st.integers(0, min(len(self.kinds), 8) - 1))
        holding = data.draw(holdings(row, self.kinds[row]))
        if holding.uid not in self.ledger.holdings:
            self.overlay.hold(holding)

    @precondition(lambda self: self.idle_rows())
    @rule(data=st.data(), kind=KINDS)
    def renew_node(self, data: st.DataObject, kind: int) -> None:
        """Let an idle row, vacant or not, be another node."""
        row = data.draw(st.sampled_from(self.idle_rows()))
        self.fresh += 1
        self.overlay.renew_node(row, NODES[kind], inventories_of(kind), name=f"new-{self.fresh}")
        self.kinds[row] = kind

    @precondition(lambda self: set(self.idle_rows()) - self.ledger.vacant)
    @rule(data=st.data())
    def vacate(self, data: st.DataObject) -> None:
        """Take an idle row's node away."""
        rows = sorted(set(self.idle_rows()) - self.ledger.vacant)
        row = data.draw(st.sampled_from(rows))
        self.overlay.vacate(row)
        self.kinds[row] = NOTHING

    def idle_rows(self) -> list[int]:
        """Return the rows on which nothing is held and whose name no other row has."""
        held = {each.row for each in self.ledger.holdings.values()}
        counts = Counter(self.ledger.names)
        return [
            row
            for row, name in enumerate(self.ledger.names)
            if row not in held and (row in self.ledger.vacant or counts[name] == 1)
        ]

    @precondition(lambda self: self.ledger.holdings)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """Take what some pod holds."""
        uid = data.draw(st.sampled_from(sorted(self.ledger.holdings)))
        before = self.ledger.holdings[uid]

        assert self.overlay.release(uid) is before

    @rule()
    def fork(self) -> None:
        """Open a level."""
        self.saved.append(Saved(content(self.ledger), tuple(self.kinds)))
        self.overlay.fork()

    @precondition(lambda self: self.saved)
    @rule()
    def revert(self) -> None:
        """Go back to the copy of the last level."""
        saved = self.saved.pop()

        self.overlay.revert()

        assert content(self.ledger) == saved.content
        self.kinds = list(saved.kinds)

    @precondition(lambda self: self.saved)
    @rule()
    def commit(self) -> None:
        """Forget the copy of the last level."""
        self.saved.pop()
        before = content(self.ledger)

        self.overlay.commit()

        assert content(self.ledger) == before

    @invariant()
    def the_depth_is_the_number_of_copies(self) -> None:
        """Levels open and close one by one."""
        assert self.overlay.depth == len(self.saved)

    @invariant()
    def columns_agree_with_holdings(self) -> None:
        """Nothing drifts."""
        self.ledger.check()

    @invariant()
    def the_log_covers_every_changed_row(self) -> None:
        """Whoever re-reads the logged rows has seen every change."""
        changed = set(self.ledger.changes.since(self.position).tolist())
        self.position = self.ledger.changes.position
        now = by_row(self.ledger)
        before, self.known = self.known, now
        differing = {row for row in now.keys() | before.keys() if now.get(row) != before.get(row)}

        assert differing <= changed


def by_row(ledger: Ledger) -> dict[int, object]:
    """Return what is said about each row: its node and who holds what there."""
    held: dict[int, list[Holding]] = {}
    for holding in ledger.holdings.values():
        held.setdefault(holding.row, []).append(holding)
    return {
        row: (id(node), ledger.names[row], sorted(held.get(row, ()), key=lambda each: each.uid))
        for row, node in enumerate(ledger.nodes)
    }


TestOverlays = Overlays.TestCase
TestOverlays.settings = settings(max_examples=40, stateful_step_count=30)

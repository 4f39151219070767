"""What nodes say to one pod's claims of devices.

Devices are searched for the claims that have none, and for extended resources that a class stands for
and the node does not offer itself. Only where that succeeds it counts whether the node can use the
devices that the other claims have.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm, any_term_matches
from springtide.engine.dynamic_resources.allocator import Allocator
from springtide.engine.dynamic_resources.judging import (
    CANNOT_ALLOCATE,
    MET,
    Answer,
    Judge,
    UsageOf,
)
from springtide.engine.dynamic_resources.requests import WantedClaim
from springtide.engine.dynamic_resources.results import allocations
from springtide.engine.dynamic_resources.supply import Offer
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.rule import Outcome, Selection
from springtide.model.columns import Interner
from springtide.model.ledger import Ledger
from springtide.model.resource_claims import ClaimContent, HeldClaim

NOT_ON_NODE: Final = Answer(reason="resourceclaim not available on the node")


class Waiting(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A claim without devices; `key` is empty where no other pod can use it."""

    key: str
    content: ClaimContent
    wanted: WantedClaim


class ClaimsCheck:
    """The claims of one ask: `reused` has those that placed pods got devices for.

    `placed` names the nodes for which each claim with devices has them.
    """

    def __init__(
        self,
        allocator: Allocator,
        ask: PodAsk,
        *,
        waiting: Sequence[Waiting],
        reused: tuple[HeldClaim, ...],
        placed: Sequence[tuple[str, tuple[NodeSelectorTerm, ...]]],
        extended: frozenset[str],
    ) -> None:
        self._allocator = allocator
        self._spec = ask.spec
        self._keys = [each.key for each in waiting]
        self._contents = tuple(each.content for each in waiting)
        self._wanted = tuple(each.wanted for each in waiting)
        self._reused = reused
        self._placed = placed
        self._extended = extended
        self._answers: Interner[Answer] = Interner((MET,))

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        """Return the verdict over the selected rows, None if all of them pass."""
        usage = self._usage(ledger)
        rows = selected.rows.tolist()
        detail = np.array(
            [self._answers.code(self._answer(ledger, row, usage)) for row in rows], np.uint64
        )
        refused = detail > 0
        if not refused.any():
            return None
        return Outcome(refused=refused, unresolvable=refused, detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        """Return the text that a row's detail stands for."""
        return (self._answers.values[detail].reason,)

    def is_fault(self, detail: int) -> bool:
        """Return whether a row's detail stands for a fault, which ends the whole attempt."""
        return self._answers.values[detail].is_fault

    def scores(self, ledger: Ledger, rows: Iterable[int]) -> list[int]:
        """Return the score of each row, before they are normalised; the rows must pass."""
        usage = self._usage(ledger)
        return [self._search(ledger, row, usage).score for row in rows]

    def unavailable(self, ledger: Ledger, rows: Iterable[int]) -> frozenset[str]:
        """Return the claims with devices that one of these rows would need and cannot use."""
        usage = self._usage(ledger)
        refusing = (row for row in rows if self._answer(ledger, row, usage) is NOT_ON_NODE)
        return frozenset(key for row in refusing for key in self._unavailable_at(ledger, row))

    def allocate(self, ledger: Ledger, row: int) -> tuple[HeldClaim, ...] | None:
        """Return what the pod's claims are given on a row, None if the row refuses."""
        offer = self._offer(ledger, row)
        found = self._judge(ledger, row).found(offer, self._usage(ledger))
        if found is None:
            return None
        given = allocations(found, node=ledger.names[row])
        keys = [*self._keys, *([""] * (len(given) - len(self._keys)))]
        fresh = (HeldClaim(key, each) for key, each in zip(keys, given, strict=True))
        return (*self._reused, *fresh)

    def shortfall(self, ledger: Ledger, row: int) -> str:
        """Return which request a row cannot meet, for people; empty if it lacks no devices."""
        usage = self._usage(ledger)
        if self._search(ledger, row, usage).reason != CANNOT_ALLOCATE:
            return ""
        return self._judge(ledger, row).shortfall(self._offer(ledger, row), usage)

    def _answer(self, ledger: Ledger, row: int, usage: UsageOf) -> Answer:
        answer = self._search(ledger, row, usage)
        if answer.reason:
            return answer
        if self._unavailable_at(ledger, row):
            return NOT_ON_NODE
        return replace(answer, score=0) if answer.score else answer

    def _search(self, ledger: Ledger, row: int, usage: UsageOf) -> Answer:
        return self._judge(ledger, row).answer(self._offer(ledger, row), usage)

    def _unavailable_at(self, ledger: Ledger, row: int) -> list[str]:
        """Return the claims whose devices the row's node cannot use."""
        labels, name = ledger.nodes[row].labels, ledger.names[row]
        return [
            key for key, terms in self._placed if not any_term_matches(terms, labels, name=name)
        ]

    def _judge(self, ledger: Ledger, row: int) -> Judge:
        own = frozenset(name for name in self._extended if not _offers(ledger, row, name))
        return self._allocator.judge(self._wanted, self._contents, extended=own, spec=self._spec)

    def _offer(self, ledger: Ledger, row: int) -> Offer:
        return self._allocator.supply.offer(ledger.nodes[row], ledger.names[row])

    def _usage(self, ledger: Ledger) -> UsageOf:
        return self._allocator.usage(ledger.held_claims.usage)


def _offers(ledger: Ledger, row: int, resource: str) -> bool:
    """Return whether the node itself has any of an extended resource."""
    index = ledger.resources.known(resource)
    return index is not None and bool(ledger.resources.allocatable[index][row])

"""DynamicResources: the pod's claims exist, and devices for them can be allocated on the node.

A claim that has devices already is only asked whether the node can use them. For the others devices
are searched among the pools that the node sees, beside those that are in use. Extended resources that
a class of devices stands for make one more claim, on nodes that do not offer them themselves.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm, any_term_matches
from springtide.engine.dynamic_resources.extended import (
    classes_by_resource,
    extended_names,
    extended_requests,
)
from springtide.engine.dynamic_resources.judging import CANNOT_ALLOCATE, MET, Answer, Judge, UsageOf
from springtide.engine.dynamic_resources.matching import DeviceSelectors, Matching
from springtide.engine.dynamic_resources.naming import NO_CLAIMS, AskedClaim
from springtide.engine.dynamic_resources.requests import UnknownClass, WantedClaim, wanted_claim
from springtide.engine.dynamic_resources.results import allocations
from springtide.engine.dynamic_resources.supply import Offer, Supply
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import rejection
from springtide.engine.framework.rule import (
    SKIPPED,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
)
from springtide.model.columns import Interner
from springtide.model.device_usage import DeviceUsage, merged
from springtide.model.ledger import Ledger
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import (
    ClaimAllocation,
    ClaimContent,
    DeviceObjects,
    HeldClaim,
)

NOT_ON_NODE: Final = Answer(reason="resourceclaim not available on the node")
DEALLOCATED: Final = "deallocation of ResourceClaim completed"
EXTENDED_CLAIM: Final = "<extended-resources>"
JUDGES_MAX: Final = 256


class DynamicResources:
    """The DynamicResources plugin of kube-scheduler; without objects it looks at nothing."""

    name = "DynamicResources"
    reads = Reads.USAGE

    def __init__(
        self, objects: DeviceObjects | None = None, selectors: DeviceSelectors | None = None
    ) -> None:
        self._objects = objects
        self._classes = classes_by_resource(objects.classes.values() if objects else ())
        self._supply = Supply(objects or DeviceObjects())
        self._matching = Matching(selectors) if selectors is not None else None
        claims = objects.claims.values() if objects else ()
        self._judges: dict[Hashable, Judge] = {}
        self._usage = DeviceUsage(each.allocation for each in claims if each.allocation is not None)

    @property
    def refusal(self) -> Refusal:
        """Return what a node without the devices says."""
        return rejection(self.name, CANNOT_ALLOCATE)

    @property
    def delegated(self) -> frozenset[str]:
        """Return the resources that classes of devices stand for."""
        return frozenset(self._classes)

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Look up the classes of all requests; a claim or class that is not there rejects the pod."""
        if self._objects is None or self._matching is None:
            return SKIPPED
        asked = ask.device_ask or NO_CLAIMS
        names = extended_names(ask.spec) & self._classes.keys()
        if not asked.claims and not asked.fault and not names:
            return SKIPPED
        if asked.fault:
            return Rejected(rejection(self.name, asked.fault))
        given = [self._given(claim, ledger) for claim in asked.claims]
        pairs = list(zip(asked.claims, given, strict=True))
        waiting = [claim for claim, allocation in pairs if allocation is None]
        try:
            wanted = tuple(map(self._wanted, waiting))
        except UnknownClass as fault:
            return Rejected(rejection(self.name, str(fault)))
        check = ClaimsCheck(
            self,
            wanted=tuple(zip(waiting, wanted, strict=True)),
            reused=tuple(
                HeldClaim(claim.key, allocation)
                for claim, allocation in pairs
                if allocation is not None and claim.allocation is None
            ),
            placed=[
                (claim.key, allocation.terms)
                for claim, allocation in pairs
                if allocation is not None and allocation.terms is not None
            ],
            extended=frozenset(names),
            ask=ask,
        )
        return Ready(check, is_lasting=not self.reads_elsewhere(ask))

    def is_asked(self, ask: PodAsk) -> bool:
        """Return whether the pod needs devices that a search has to find, now or at first."""
        if self._objects is None:
            return False
        asked = ask.device_ask or NO_CLAIMS
        is_open = any(claim.allocation is None for claim in asked.claims)
        return is_open or not self._classes.keys().isdisjoint(extended_names(ask.spec))

    def reads_elsewhere(self, ask: PodAsk) -> bool:
        """Return whether a placement on one node may decide about the pod on another.

        It may if nodes share devices, or pods share a claim that is still to be allocated.
        """
        asked = ask.device_ask or NO_CLAIMS
        is_open = any(claim.key and claim.allocation is None for claim in asked.claims)
        return is_open or (bool(self._supply.shared) and self.is_asked(ask))

    def _given(self, claim: AskedClaim, ledger: Ledger) -> ClaimAllocation | None:
        """Return what a claim has, by what the API says or by what a placed pod was given."""
        if claim.allocation is not None or not claim.key:
            return claim.allocation
        return ledger.held_claims.given(claim.key)

    def _wanted(self, claim: AskedClaim) -> WantedClaim:
        assert self._objects is not None
        return wanted_claim(claim.key or "of the pod", claim.content, self._objects.classes)

    def offer(self, ledger: Ledger, row: int) -> Offer:
        """Return what a row's node sees."""
        return self._supply.offer(ledger.nodes[row], ledger.names[row])

    def usage(self, ledger: Ledger) -> UsageOf:
        """Return what is taken of each pool, by the API and by pods that were placed."""
        base, placed = self._usage.of, ledger.held_claims.usage.of
        return lambda pool: merged(base(pool), placed(pool))

    def judge(
        self, wanted: tuple[WantedClaim, ...], contents: Hashable, ask: PodAsk, own: frozenset[str]
    ) -> Judge:
        """Return the judge of these claims and of extended resources that a node does not offer."""
        assert self._matching is not None
        key = (contents, ask.spec if own else None, own)
        known = self._judges.get(key)
        if known is None:
            if len(self._judges) >= JUDGES_MAX:
                self._judges.clear()
            claims = (*wanted, self.extended_claim(ask.spec, own)) if own else wanted
            known = self._judges[key] = Judge(claims, self._matching)
        return known

    def extended_claim(self, spec: PodSpec, names: frozenset[str]) -> WantedClaim:
        """Return the claim behind a pod's extended resources of these names."""
        classes = {name: self._classes[name] for name in names}
        content = ClaimContent(requests=extended_requests(spec, classes))
        return wanted_claim(EXTENDED_CLAIM, content, {each.name: each for each in classes.values()})


def pre_enqueue(ask: PodAsk) -> Refusal | None:
    """Return what keeps a pod out of the queue: a claim that is not there; None if nothing does."""
    fault = ask.device_ask.fault if ask.device_ask is not None else ""
    return rejection(DynamicResources.name, fault) if fault else None


def post_filter(uid: str, unavailable: Iterable[str], objects: DeviceObjects) -> str:
    """Return what is said after no node took the pod of this uid, empty if nothing is.

    Of the claims that have devices out of reach, one that no other pod uses gives them back.
    """
    users = (set(objects.claims[key].reserved_for) for key in unavailable)
    return DEALLOCATED if any(each <= {uid} for each in users) else ""


class ClaimsCheck:
    """The claims of one ask: those that have devices by the nodes they are for, and the others."""

    def __init__(
        self,
        rule: DynamicResources,
        *,
        wanted: tuple[tuple[AskedClaim, WantedClaim], ...],
        reused: tuple[HeldClaim, ...],
        placed: Sequence[tuple[str, tuple[NodeSelectorTerm, ...]]],
        extended: frozenset[str],
        ask: PodAsk,
    ) -> None:
        self._rule = rule
        self._wanted = tuple(each for _, each in wanted)
        self._asked = tuple(claim for claim, _ in wanted)
        self._contents = tuple(claim.content for claim in self._asked)
        self._reused = reused
        self._placed = placed
        self._extended = extended
        self._ask = ask
        self._answers: Interner[Answer] = Interner((MET,))

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        """Return the verdict over the selected rows, None if all of them pass."""
        usage = self._rule.usage(ledger)
        codes = [
            self._answers.code(self._answer(ledger, row, usage)) for row in selected.rows.tolist()
        ]
        detail = np.array(codes, np.uint64)
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

    def scores(self, ledger: Ledger, rows: Sequence[int]) -> list[int]:
        """Return the score of each row, before they are normalised; the rows must pass."""
        usage = self._rule.usage(ledger)
        return [
            self._judge(ledger, row).answer(self._rule.offer(ledger, row), usage).score
            for row in rows
        ]

    def unavailable(self, ledger: Ledger, rows: Iterable[int]) -> frozenset[str]:
        """Return the claims with devices that one of these rows would need and cannot use."""
        usage = self._rule.usage(ledger)
        refusing = (row for row in rows if self._answer(ledger, row, usage) is NOT_ON_NODE)
        return frozenset(key for row in refusing for key in self._unavailable_at(ledger, row))

    def allocate(self, ledger: Ledger, row: int) -> tuple[HeldClaim, ...] | None:
        """Return what the pod's claims are given on a row, None if the row refuses."""
        usage = self._rule.usage(ledger)
        found = self._judge(ledger, row).found(self._rule.offer(ledger, row), usage)
        if found is None:
            return None
        given = allocations(found, node=ledger.names[row])
        keys = [claim.key for claim in self._asked]
        keys += [""] * (len(given) - len(keys))
        fresh = (HeldClaim(key, each) for key, each in zip(keys, given, strict=True))
        return (*self._reused, *fresh)

    def _answer(self, ledger: Ledger, row: int, usage: UsageOf) -> Answer:
        answer = self._judge(ledger, row).answer(self._rule.offer(ledger, row), usage)
        if answer.reason:
            return answer
        if self._unavailable_at(ledger, row):
            return NOT_ON_NODE
        return replace(answer, score=0) if answer.score else answer

    def _unavailable_at(self, ledger: Ledger, row: int) -> list[str]:
        """Return the claims whose devices the row's node cannot use."""
        labels, name = ledger.nodes[row].labels, ledger.names[row]
        return [
            key for key, terms in self._placed if not any_term_matches(terms, labels, name=name)
        ]

    def _judge(self, ledger: Ledger, row: int) -> Judge:
        own = frozenset(name for name in self._extended if not _offers(ledger, row, name))
        return self._rule.judge(self._wanted, self._contents, self._ask, own)


def _offers(ledger: Ledger, row: int, resource: str) -> bool:
    """Return whether the node itself has any of an extended resource."""
    index = ledger.resources.known(resource)
    return index is not None and bool(ledger.resources.allocatable[index][row])

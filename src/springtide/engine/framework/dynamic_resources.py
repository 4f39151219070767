"""DynamicResources: the pod's claims exist, and devices for them can be allocated on the node.

Extended resources that a class of devices stands for make one more claim, on nodes that do not offer
them themselves. What nodes say is found by `claims_check`.
"""

from collections.abc import Hashable, Iterable
from typing import Final

from springtide.engine.dynamic_resources.allocator import Allocator
from springtide.engine.dynamic_resources.extended import extended_names
from springtide.engine.dynamic_resources.judging import CANNOT_ALLOCATE
from springtide.engine.dynamic_resources.matching import DeviceSelectors
from springtide.engine.dynamic_resources.naming import NO_CLAIMS, AskedClaim
from springtide.engine.dynamic_resources.requests import UnknownClass
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import rejection
from springtide.engine.framework.claims_check import ClaimsCheck, Waiting
from springtide.engine.framework.rule import SKIPPED, Prepared, Reads, Ready, Rejected
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import ClaimAllocation, DeviceObjects, HeldClaim

DEALLOCATED: Final = "deallocation of ResourceClaim completed"


class DynamicResources:
    """The DynamicResources plugin of kube-scheduler; without objects it looks at nothing."""

    name = "DynamicResources"
    reads = Reads.USAGE

    def __init__(
        self, objects: DeviceObjects | None = None, selectors: DeviceSelectors | None = None
    ) -> None:
        assert objects is None or selectors is not None, "devices are found by their selectors"
        self._allocator = (
            Allocator(objects, selectors) if objects is not None and selectors is not None else None
        )

    @property
    def refusal(self) -> Refusal:
        """Return what a node without the devices says."""
        return rejection(self.name, CANNOT_ALLOCATE)

    @property
    def delegated(self) -> frozenset[str]:
        """Return the resources that classes of devices stand for."""
        return frozenset(self._allocator.classes) if self._allocator is not None else frozenset()

    @property
    def has_shared_devices(self) -> bool:
        """Return whether there are devices that several nodes reach."""
        return self._allocator is not None and bool(self._allocator.supply.shared)

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Look up the classes of all requests; a claim or class that is not there rejects the pod."""
        allocator = self._allocator
        if allocator is None:
            return SKIPPED
        asked = ask.device_ask or NO_CLAIMS
        extended = extended_names(ask.spec) & allocator.classes.keys()
        if asked.fault:
            return Rejected(rejection(self.name, asked.fault))
        if not asked.claims and not extended:
            return SKIPPED
        given = [(claim, _given(claim, ledger)) for claim in asked.claims]
        try:
            waiting = [_waiting(claim, allocator) for claim, found in given if found is None]
        except UnknownClass as fault:
            return Rejected(rejection(self.name, str(fault)))
        check = ClaimsCheck(
            allocator,
            ask,
            waiting=waiting,
            reused=tuple(
                HeldClaim(claim.key, found)
                for claim, found in given
                if found is not None and claim.allocation is None
            ),
            placed=[
                (claim.key, found.terms)
                for claim, found in given
                if found is not None and found.terms is not None
            ],
            extended=extended,
        )
        return Ready(check, elsewhere=self.elsewhere(ask, ledger))

    def is_asked(self, ask: PodAsk) -> bool:
        """Return whether a placement of the pod has to find devices for its claims."""
        if self._allocator is None:
            return False
        asked = ask.device_ask or NO_CLAIMS
        is_open = any(claim.allocation is None for claim in asked.claims)
        return is_open or not self._allocator.classes.keys().isdisjoint(extended_names(ask.spec))

    def elsewhere(self, ask: PodAsk, ledger: Ledger) -> Hashable:
        """Return what the rule reads of other nodes: what is taken there, and claims given there."""
        if self._allocator is None or not self.reads_elsewhere(ask):
            return None
        asked = ask.device_ask or NO_CLAIMS
        open_claims = (claim for claim in asked.claims if claim.key and claim.allocation is None)
        usage = self._allocator.usage(ledger.held_claims.usage)
        return (
            tuple(usage(pool.name) for pool in self._allocator.supply.shared),
            tuple(ledger.held_claims.given(claim.key) for claim in open_claims),
        )

    def reads_elsewhere(self, ask: PodAsk) -> bool:
        """Return whether a placement on one node may decide about the pod on another.

        It may if nodes share devices, or pods share a claim that is still to be allocated.
        """
        asked = ask.device_ask or NO_CLAIMS
        is_open = any(claim.key and claim.allocation is None for claim in asked.claims)
        return is_open or (self.has_shared_devices and self.is_asked(ask))


def pre_enqueue(ask: PodAsk) -> Refusal | None:
    """Return what keeps a pod out of the queue: a claim that is not there; None if nothing does."""
    fault = ask.device_ask.fault if ask.device_ask is not None else ""
    return rejection(DynamicResources.name, fault) if fault else None


def deallocation(uid: str, unavailable: Iterable[str], objects: DeviceObjects) -> str:
    """Return what is said after no node took the pod of this uid, empty if nothing is.

    Of the claims that have devices out of reach, one that no other pod uses gives them back.
    """
    claims = (objects.claims[key] for key in unavailable)
    users = (set(each.reserved_for) for each in claims if each.allocation is not None)
    return DEALLOCATED if any(each <= {uid} for each in users) else ""


def _given(claim: AskedClaim, ledger: Ledger) -> ClaimAllocation | None:
    """Return what a claim has, by what the API says or by what a placed pod was given."""
    if claim.allocation is not None or not claim.key:
        return claim.allocation
    return ledger.held_claims.given(claim.key)


def _waiting(claim: AskedClaim, allocator: Allocator) -> Waiting:
    wanted = allocator.wanted(claim.content, text=claim.key or "of the pod")
    return Waiting(key=claim.key, content=claim.content, wanted=wanted)

"""Which request of a pod's claims a node cannot meet, with the numbers behind it.

The verdict of kube-scheduler is only that not all claims can be allocated. People want to know whether
the node has such devices at all, whether they are what the request selects, and whether they are free.
"""

from collections.abc import Callable, Iterator, Sequence

from springtide.base.taints import first_untolerated
from springtide.engine.dynamic_resources import capacity
from springtide.engine.dynamic_resources.choices import Choices
from springtide.engine.dynamic_resources.faults import AllocationFault
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import Candidate, PoolView
from springtide.engine.dynamic_resources.requests import Wanted, WantedClaim
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import PoolUse
from springtide.model.resource_claims import ALL

TOGETHER = "each request could be met alone, but not all of them together"


def shortfall(
    claims: Sequence[WantedClaim],
    views: Sequence[PoolView],
    usage: Callable[[PoolName], PoolUse],
    matching: Matching,
) -> str:
    """Return the first request that the devices on offer cannot meet, whatever the others get."""
    offered = _Offered(views, Choices(claims, views, usage), matching)
    for index, claim in enumerate(claims):
        for forms in claim.requests:
            lacks = [offered.lack(index, each) for each in forms]
            if all(lacks):
                return f"claim {claim.text}, request {forms[0].last_name}: {lacks[0]}"
    return TOGETHER


class _Offered:
    """The devices that one node offers, counted for one form of a request after the other."""

    def __init__(self, views: Sequence[PoolView], choices: Choices, matching: Matching) -> None:
        whole = (view for view in views if not view.pool.is_incomplete and not view.pool.fault)
        self._devices = [each for view in whole for each, is_own in view.devices if is_own]
        self._choices = choices
        self._matching = matching

    def lack(self, claim: int, wanted: Wanted) -> str:
        """Return what there is too little of for this form, empty if there is enough of all."""
        asked = 1 if wanted.request.mode == ALL else wanted.request.count
        left = self._devices
        for what, passes in self._conditions(claim, wanted):
            before, left = left, list(filter(passes, left))
            if len(left) < asked:
                count = f"{len(left)} of {len(before)}" if before else "none"
                return f"{asked} device{'s' * (asked > 1)} asked, {count} {what}"
        return ""

    def _conditions(
        self, claim: int, wanted: Wanted
    ) -> Iterator[tuple[str, Callable[[Candidate], bool]]]:
        own_class, tolerated = wanted.device_class, wanted.request.tolerations
        yield f"of class {own_class.name}", self._selected(own_class.selectors)
        yield "as its selectors ask", self._selected(wanted.request.selectors)
        yield (
            "without taints",
            lambda each: first_untolerated(each.device.taints, tolerated) is None,
        )
        yield (
            "with the capacity",
            lambda each: capacity.consumed(each.device, wanted.capacity) is not None,
        )
        yield "free", lambda each: self._choices.is_free(claim, wanted, each)

    def _selected(self, expressions: tuple[str, ...]) -> Callable[[Candidate], bool]:
        def is_selected(candidate: Candidate) -> bool:
            try:
                return self._matching.selects(expressions, candidate, whose="")
            except AllocationFault:
                return False

        return is_selected

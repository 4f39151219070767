"""The devices of a cluster and who judges claims of them, for all nodes and pods.

What the API says is taken stands; what pods that were placed since then take is the caller's.
"""

from collections.abc import Hashable
from typing import Final

from springtide.engine.dynamic_resources.extended import classes_by_resource, extended_requests
from springtide.engine.dynamic_resources.judging import Judge, UsageOf
from springtide.engine.dynamic_resources.matching import DeviceSelectors, Matching
from springtide.engine.dynamic_resources.requests import WantedClaim, wanted_claim
from springtide.engine.dynamic_resources.supply import Supply
from springtide.model.device_usage import DeviceUsage, merged
from springtide.model.pod import PodSpec
from springtide.model.resource_claims import ClaimContent, DeviceObjects

EXTENDED_CLAIM: Final = "<extended-resources>"
JUDGES_MAX: Final = 256


class Allocator:
    """Judges of claims, kept by what is claimed."""

    def __init__(self, objects: DeviceObjects, selectors: DeviceSelectors) -> None:
        self.objects = objects
        self.supply = Supply(objects)
        self.classes = classes_by_resource(objects.classes.values())
        self._matching = Matching(selectors)
        self._judges: dict[Hashable, Judge] = {}
        given = (each.allocation for each in objects.claims.values())
        self._usage = DeviceUsage(each for each in given if each is not None)

    def usage(self, placed: DeviceUsage) -> UsageOf:
        """Return what is taken of each pool, by what the API says and by pods that were placed."""
        base = self._usage.of
        return lambda pool: merged(base(pool), placed.of(pool))

    def wanted(self, content: ClaimContent, *, text: str) -> WantedClaim:
        """Return a claim with its classes, or raise UnknownClass."""
        return wanted_claim(text, content, self.objects.classes)

    def judge(
        self,
        wanted: tuple[WantedClaim, ...],
        contents: tuple[ClaimContent, ...],
        *,
        extended: frozenset[str],
        spec: PodSpec,
    ) -> Judge:
        """Return the judge of claims of these contents, and of a pod's extended resources."""
        key = (contents, spec if extended else None, extended)
        known = self._judges.get(key)
        if known is None:
            if len(self._judges) >= JUDGES_MAX:
                self._judges.clear()
            claims = (*wanted, self._behind(spec, extended)) if extended else wanted
            known = self._judges[key] = Judge(claims, self._matching)
        return known

    def _behind(self, spec: PodSpec, resources: frozenset[str]) -> WantedClaim:
        """Return the claim behind a pod's extended resources of these names."""
        classes = {name: self.classes[name] for name in resources}
        content = ClaimContent(requests=extended_requests(spec, classes))
        by_name = {each.name: each for each in classes.values()}
        return wanted_claim(EXTENDED_CLAIM, content, by_name)

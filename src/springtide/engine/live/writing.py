"""What of a reservation is written on its pod, and what takes it off again, as patches."""

from collections.abc import Iterable, Mapping
from typing import Final

from springtide.base.annotations import BIND_FAILED, BIND_PHASE, BIND_TIME, NODE, RESERVED_AT
from springtide.engine.live.commands import Notes, PatchPod
from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Allocation
from springtide.model.pod import Pod

LABEL_MAX: Final = 63
"""Characters that the value of a label may have; the name of a node may have more."""


class Writing:
    """Writes in the words of the families."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._families = families
        self._written = frozenset(
            name for family in families.values() for name in family.written_annotations()
        )

    def reserving(
        self, pod: Pod, node: str, allocations: Iterable[Allocation], *, at_s: int
    ) -> PatchPod:
        """Return what says that a pod has these devices on a node, chosen at this time."""
        notes: dict[str, str | None] = {NODE: node, RESERVED_AT: str(at_s)}
        for each in allocations:
            notes |= self._families[each.family].encode(each, at_s=at_s)
        # What an earlier attempt has left would be read as that this one failed or is over.
        left = (pod.annotations.keys() & self._written) - notes.keys()
        if pod.annotations.get(BIND_PHASE) == BIND_FAILED:
            left |= {BIND_PHASE, BIND_TIME}
        notes |= dict.fromkeys(sorted(left))
        labels: Notes = {NODE: node} if len(node) <= LABEL_MAX else {}
        return PatchPod(
            uid=pod.uid, namespace=pod.namespace, name=pod.name, annotations=notes, labels=labels
        )

    def clearing(self, pod: Pod, allocations: Iterable[Allocation]) -> PatchPod:
        """Return what takes a reservation off a pod, with what these devices would have written."""
        written = pod.annotations.keys() & self._written
        for each in allocations:
            written |= self._families[each.family].encode(each, at_s=0).keys()
        notes = dict.fromkeys((NODE, RESERVED_AT, *sorted(written)))
        labels = {NODE: None}
        return PatchPod(
            uid=pod.uid, namespace=pod.namespace, name=pod.name, annotations=notes, labels=labels
        )

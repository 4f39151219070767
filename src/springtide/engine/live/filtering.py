"""The answer to a filter call: the node with its reservation, or why there is none, and what is said of it."""

from collections.abc import Mapping, Sequence

from springtide.engine.live import events
from springtide.engine.live.answers import Filtered
from springtide.engine.live.choosing import Choosing
from springtide.engine.live.commands import RecordEvent
from springtide.engine.live.offering import Offering
from springtide.engine.live.tracking import Tracking
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.placing import Placement
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class Filtering:
    """Answers for pods that ask for devices and hold none."""

    def __init__(
        self,
        families: Mapping[str, DeviceFamily],
        choosing: Choosing,
        tracking: Tracking,
        *,
        offering: Offering | None,
    ) -> None:
        """Choose a node, or leave that to the caller where there is an offering."""
        self._families = families
        self._choosing = choosing
        self._tracking = tracking
        self._offering = offering

    def answer(
        self, pod: Pod, pod_class: PodClass, names: Sequence[str], *, now_s: float
    ) -> Filtered:
        """Return which of these nodes the pod gets, and hold its devices there."""
        if pod_class.refusal is not None:
            return self._senseless(pod, names)
        if self._offering is not None:
            return self._offered(pod, pod_class, names, self._offering)
        placement = self._choosing.best(pod_class, names)
        if placement is None:
            return self._refused(pod, self._choosing.refusals(pod_class, names), len(names))
        told = self._told(pod, pod_class, placement, names)
        node = self._choosing.ledger.names[placement.row]
        patch = self._tracking.reserve(pod, node, placement.allocations, now_s=now_s)
        return Filtered(node=node, patch=patch, events=(told,))

    def _offered(
        self, pod: Pod, pod_class: PodClass, names: Sequence[str], offering: Offering
    ) -> Filtered:
        nodes = offering.taking(pod_class, names)
        if not nodes:
            return self._refused(pod, self._choosing.refusals(pod_class, names), len(names))
        # What an earlier attempt has left must be off the pod before the bind writes anew.
        return Filtered(nodes=nodes, patch=self._tracking.clearing(pod))

    def _told(
        self, pod: Pod, pod_class: PodClass, placement: Placement, names: Sequence[str]
    ) -> RecordEvent:
        known = self._choosing.ledger.names
        fits, best = self._choosing.fitting(pod_class, names, placement.row, most=events.NAMES_MAX)
        named = [known[row] for row in best.rows.tolist()]
        # The sign only says which end a policy prefers.
        scores = list(zip(named, map(abs, best.scores), strict=True))
        return events.fitting(pod, known[placement.row], scores, asked=len(names), fits=fits)

    def _refused(self, pod: Pod, refusals: Mapping[str, str], asked: int) -> Filtered:
        told = events.not_fitting(pod, refusals, asked=asked)
        return Filtered(refusals=refusals, events=(*self._tracking.clear(pod), *told))

    def _senseless(self, pod: Pod, names: Sequence[str]) -> Filtered:
        """Answer for a pod that asks for what makes no sense: no node will ever take it."""
        refusal = self._refusal(pod)
        if not refusal.is_fault:
            return self._refused(pod, dict.fromkeys(names, refusal.text), len(names))
        error = f"calcScore failed {refusal.text} for pod {pod.name}"
        told = events.failed(pod, error)
        return Filtered(error=error, events=(*self._tracking.clear(pod), told))

    def _refusal(self, pod: Pod) -> Refusal:
        """Return the refusal of a senseless ask, with the names of the pod's own containers."""
        answers = (family.ask(pod) for family in self._families.values())
        return next(answer for answer in answers if isinstance(answer, Refusal))

"""Why a pod with devices must not be bound after all: nobody holds them for it, or no longer rightly."""

from collections.abc import Callable

from springtide.engine.live.holders import Holders
from springtide.engine.live.tracking import Tracking
from springtide.model.pod import Pod


class Objecting:
    """Looks at reservations before their pods are bound; `leads` says whether this process decides."""

    def __init__(self, tracking: Tracking, holders: Holders, *, leads: Callable[[], bool]) -> None:
        self._tracking = tracking
        self._holders = holders
        self._leads = leads

    def unreserved(self, pod: Pod, node: str) -> str:
        """Return why a bind to a node must not begin, empty if it may."""
        reserved = self._tracking.reservations.get(pod.uid)
        if reserved is None:
            return f"pod {pod.key} has no devices reserved on node {node}: it is scheduled again"
        if reserved.node != node:
            return (
                f"pod {pod.key} has its devices reserved on node {reserved.node}, not on {node}: "
                "it is scheduled again"
            )
        return ""

    def outdated(self, uid: str) -> str:
        """Return why a reservation that only this process knows of does not count any more."""
        reserved = self._tracking.reservations.get(uid)
        if reserved is None or not reserved.is_unwritten:
            return ""
        if not self._leads():
            return "this replica does not lead any more: the pod is scheduled again"
        exceeded = self._holders.exceeded(uid)
        if exceeded:
            return (
                f"device {exceeded} of node {reserved.node} has been given to another pod meanwhile: "
                "the pod is scheduled again"
            )
        return ""

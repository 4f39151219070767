"""The live scheduler: what is known of a cluster's devices, and what follows from it."""

from collections.abc import Mapping, Sequence

from springtide.engine.live.answers import Admitted, Filtered, Submitted
from springtide.engine.live.commands import Commands, Outcome
from springtide.engine.live.settings import LiveSettings
from springtide.engine.placement.family import DeviceFamily
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.quotas import NamespaceQuota


class Live:
    """One cluster's devices and who holds them; single threaded, without I/O and clock.

    Times are Unix seconds. A process that does not lead hears of everything, and asks for nothing.
    """

    def __init__(self, families: Mapping[str, DeviceFamily], settings: LiveSettings) -> None:
        self.families = families
        self.settings = settings
        self.is_leading = True

    # What the informers tell

    def node_seen(self, node: Node, *, now_s: float, version: str = "") -> Commands:
        """Learn how a node is now; `version` is its resource version."""
        raise NotImplementedError

    def node_gone(self, name: str, *, now_s: float) -> Commands:
        """Learn that a node is gone."""
        raise NotImplementedError

    def pod_seen(self, pod: Pod, *, now_s: float) -> Commands:
        """Learn how a pod is now."""
        raise NotImplementedError

    def pod_gone(self, uid: str, *, now_s: float) -> Commands:
        """Learn that a pod is gone, by its deletion or because a new list does not have it."""
        raise NotImplementedError

    def quota_seen(self, quota: NamespaceQuota) -> None:
        """Learn how a quota is now."""
        raise NotImplementedError

    def quota_gone(self, namespace: str, name: str) -> None:
        """Learn that a quota is gone."""
        raise NotImplementedError

    def lead(self, *, is_leading: bool, now_s: float) -> Commands:
        """Begin or stop to ask for changes of the cluster."""
        raise NotImplementedError

    def tick(self, *, now_s: float) -> Commands:
        """Let time pass; called every few seconds at most."""
        raise NotImplementedError

    # What callers ask

    def filter(self, pod: Pod, names: Sequence[str], *, now_s: float) -> Filtered:
        """Return which of these nodes the pod gets, and hold its devices there."""
        raise NotImplementedError

    def take_back(self, uid: str) -> None:
        """Give up the reservation of a pod on which it could not be written."""
        raise NotImplementedError

    def bind(self, *, uid: str, namespace: str, name: str, node: str, now_s: float) -> Commands:
        """Begin to bind a pod; an `AnswerBind` comes with these commands or with later ones."""
        raise NotImplementedError

    def outcome(self, bind: str, outcome: Outcome, *, now_s: float) -> Commands:
        """Learn what came of the command that was last asked for a bind."""
        raise NotImplementedError

    def admit(self, submitted: Submitted) -> Admitted:
        """Return what admission makes of a pod."""
        raise NotImplementedError

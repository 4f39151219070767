"""The live scheduler: what is known of a cluster's devices, and what follows from it."""

from collections.abc import Mapping, Sequence

from springtide.engine.live import admission, events
from springtide.engine.live.answers import Admitted, Filtered, Submitted
from springtide.engine.live.bind import Bind, Rules
from springtide.engine.live.choosing import Choosing
from springtide.engine.live.commands import (
    AnswerBind,
    Command,
    Commands,
    Outcome,
    PatchNode,
)
from springtide.engine.live.filtering import Filtering
from springtide.engine.live.holders import Holders
from springtide.engine.live.lock import Owner
from springtide.engine.live.objecting import Objecting
from springtide.engine.live.offering import Offering
from springtide.engine.live.queues import Ended, Queues
from springtide.engine.live.quota import Limiting
from springtide.engine.live.settings import LiveSettings
from springtide.engine.live.stock import Known, Stock
from springtide.engine.live.tracking import Tracking
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.device_classes import Classes
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.policy import PolicyTable
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.quotas import Limits, NamespaceQuota

LOG_MAX = 1_000_000
LOG_KEPT = 100_000
"""Changes of the ledger that are remembered for tables that nobody has looked at for long."""

Progress = tuple[list[Command], Ended]


class Live:
    """One cluster's devices and who holds them; single threaded, without I/O and clock.

    Times are Unix seconds. A process that does not lead hears of everything, and asks for nothing. One
    that is not entitled to lead any more, which it may know by the clock before it is told, binds no pod
    whose reservation nobody else can know of.
    """

    def __init__(
        self,
        families: Mapping[str, DeviceFamily],
        settings: LiveSettings,
        *,
        policies: PolicyTable | None = None,
    ) -> None:
        """Begin with nothing; `policies` are those that pods and families may name beside their own."""
        assert settings.writes_at_bind or not settings.leaves_choice, "nothing is reserved before"
        self.families = families
        self.settings = settings
        self.is_leading = True
        self.is_entitled = True
        self.ledger = Ledger()
        self.holders = Holders(self.ledger, families)
        self.tracking = Tracking(families, settings, self.holders)
        self.stock = Stock(families, settings, self.holders)
        self.choosing = Choosing(self.ledger, families, policies)
        self._offering = Offering(self.choosing, self.tracking)
        offering = self._offering if settings.leaves_choice else None
        self._filtering = Filtering(families, self.choosing, self.tracking, offering=offering)
        self._classes = Classes(families, self.ledger)
        self._limiting = Limiting(families)
        self._names: dict[Owner, str] = {}
        self._keys: dict[str, Owner] = {}
        self._objecting = Objecting(
            self.tracking, self.holders, leads=lambda: self.is_leading and self.is_entitled
        )
        rules = Rules(
            lock_timeout_s=settings.lock_timeout_s,
            is_alive=self._is_awaited,
            is_meant_elsewhere=self._is_meant_elsewhere,
            objection=self._objecting.outdated,
        )
        self._queues = Queues(self.stock, rules)

    # What the informers tell

    def node_seen(self, node: Node, *, now_s: float, version: str = "") -> Commands:
        """Learn how a node is now; `version` is its resource version."""
        wanted = self.stock.see(node, version=version, now_s=now_s)
        progress = self._queues.lock_seen(node.name, now_s=now_s)
        return (*self._asking(node.name, wanted), *self._went_on(progress))

    def node_gone(self, name: str, *, now_s: float) -> Commands:
        """Learn that a node is gone."""
        self.stock.forget(name)
        return self._went_on(self._queues.lock_seen(name, now_s=now_s))

    def pod_seen(self, pod: Pod, *, now_s: float) -> Commands:
        """Learn how a pod is now."""
        found = self.tracking.see(pod, now_s=now_s)
        if pod.is_finished:
            return (*self._led(found), *self._ended(pod.uid, now_s=now_s))
        if pod.uid in self.tracking.waiting or pod.uid in self.holders:
            self._know(pod)
        return self._led(found)

    def pod_gone(self, uid: str, *, now_s: float) -> Commands:
        """Learn that a pod is gone, by its deletion or because a new list does not have it."""
        self.tracking.forget(uid)
        return self._ended(uid, now_s=now_s)

    def quota_seen(self, quota: NamespaceQuota) -> None:
        """Learn how a quota is now."""
        if self._limiting.see(quota):
            self.restrict(self._limiting.limits())

    def quota_gone(self, namespace: str, name: str) -> None:
        """Learn that a quota is gone."""
        if self._limiting.forget(namespace, name):
            self.restrict(self._limiting.limits())

    def lead(self, *, is_leading: bool, now_s: float) -> Commands:
        """Begin or stop to ask for changes of the cluster."""
        self.is_leading = is_leading
        return self._judged_again(self.stock.all(), now_s=now_s) if is_leading else ()

    def tick(self, *, now_s: float) -> Commands:
        """Let time pass; called every second or so, which is how exact waits are."""
        changes = self.ledger.changes
        if changes.position - changes.start > LOG_MAX:
            changes.forget(changes.position - LOG_KEPT)
        judged = self._judged_again(self.stock.overdue(now_s), now_s=now_s)
        expired = self._led(self.tracking.expire(now_s=now_s))
        return (*judged, *expired, *self._went_on(self._queues.pass_time(now_s=now_s)))

    # What callers ask

    def filter(self, pod: Pod, names: Sequence[str], *, now_s: float) -> Filtered:
        """Return which of these nodes the pod gets, and hold its devices there, or which take it."""
        pod_class = self.class_of(pod)
        if not pod_class.asks and pod_class.refusal is None:
            return Filtered(passes=True)
        held = self.holders.get(pod.uid)
        if held is not None and not pod.node_name and pod.uid not in self.tracking.reservations:
            # Whoever asks has not heard of it yet; what the pod runs on must not be given away.
            return Filtered(error=f"pod {pod.key} is bound to node {held.node} already")
        self._queues.cancel(pod.uid)
        if self.settings.leaves_choice:
            # What an attempt before has written may not have been heard of yet, and counts no more.
            self.tracking.give_up(pod.uid)
        self.tracking.release(pod, now_s=now_s)
        self._know(pod)
        return self._filtering.answer(pod, pod_class, names, now_s=now_s)

    def prioritize(self, pod: Pod, names: Sequence[str], *, most: int) -> dict[str, int]:
        """Return how well these nodes suit the pod, from 0 to `most`, which the best ones get."""
        reserved = self.tracking.reservations.get(pod.uid)
        if reserved is not None:
            return {name: most if name == reserved.node else 0 for name in names}
        pod_class = self.class_of(pod)
        if not pod_class.asks or pod_class.refusal is not None:
            return dict.fromkeys(names, 0)
        return self._offering.scores(pod_class, names, most=most)

    def take_back(self, uid: str) -> Commands:
        """Give up the reservation of a pod on which it could not be written.

        If an earlier one is written there, or this one was written after all, it is taken off.
        """
        self.tracking.give_up(uid)
        pod = self.tracking.waiting.get(uid)
        return () if pod is None else self._led(self.tracking.clear(pod))

    def bind(self, *, uid: str, namespace: str, name: str, node: str, now_s: float) -> Commands:
        """Begin to bind a pod; an `AnswerBind` comes with these commands or with later ones."""
        pod = self.tracking.waiting.get(uid)
        if pod is None:
            return self._unknown(uid, name, node)
        if node not in self.stock:
            told = events.not_bound(pod, f"failed to get node {node}")
            return self._refused(pod, f'node "{node}" not found', told)
        if uid in self._queues:
            return (AnswerBind(uid=uid, error=f"pod {pod.key} is being bound already"),)
        if self._queues.is_full(node):
            fault = f"too many pods wait for node {node} to be unlocked: node lock contention"
            return (events.not_bound(pod, fault), AnswerBind(uid=uid, error=fault))
        locks = self._asks_devices(pod)
        fault = self._unreserved(pod, node, now_s=now_s) if locks else ""
        if fault:
            return self._refused(pod, fault, events.not_bound(pod, fault))
        writes = self.tracking.begin_binding(uid) if locks else None
        wait_s = self.settings.lock_wait_s if pod.gang_links else self.settings.single_wait_s
        bind = Bind(
            uid=uid,
            namespace=namespace,
            name=name,
            node=node,
            locks=locks,
            begun_s=now_s,
            deadline_s=now_s + wait_s,
            annotations={} if writes is None else writes.annotations,
            labels={} if writes is None else writes.labels,
        )
        return self._went_on(self._queues.begin(bind, now_s=now_s))

    def outcome(self, bind: str, outcome: Outcome, *, now_s: float) -> Commands:
        """Learn what came of the command that was last asked for a bind."""
        return self._went_on(self._queues.outcome(bind, outcome, now_s=now_s))

    def admit(self, submitted: Submitted) -> Admitted:
        """Return what admission makes of a pod."""
        quotas = self.ledger.quotas
        return admission.admit(submitted, self.families, self.settings, quotas=quotas)

    def class_of(self, pod: Pod) -> PodClass:
        """Return the pod's class: what it asks of devices."""
        return self._classes.of(pod)

    def quotas(self) -> tuple[NamespaceQuota, ...]:
        """Return the quotas that were seen."""
        return self._limiting.all()

    # Binding

    def _is_meant_elsewhere(self, owner: Owner, node: str) -> bool:
        """Return whether devices are held on another node for a pod that is not bound."""
        reserved = self.tracking.reservations.get(self._names.get(owner, ""))
        return reserved is not None and reserved.node != node

    def _is_awaited(self, owner: Owner, node: str) -> bool:
        """Return whether a pod is there that a node may yet have to serve: none that is on another one."""
        uid = self._names.get(owner)
        if uid is None or self._is_meant_elsewhere(owner, node):
            return False
        held = self.holders.get(uid)
        return uid in self.tracking.waiting or held is None or held.node in {"", node}

    def _asks_devices(self, pod: Pod) -> bool:
        pod_class = self.class_of(pod)
        return bool(pod_class.asks) or pod_class.refusal is not None

    def _unknown(self, uid: str, name: str, node: str) -> Commands:
        """Answer a bind of a pod that does not wait: it is gone, or bound already."""
        held = self.holders.get(uid)
        if held is not None and held.node == node:
            return (AnswerBind(uid=uid),)
        return (AnswerBind(uid=uid, error=f'pod "{name}" not found'),)

    def _unreserved(self, pod: Pod, node: str, *, now_s: float) -> str:
        """Return why a bind to a node must not begin, empty if devices are held for it there."""
        if self.settings.leaves_choice:
            return self._offering.reserve(pod, self.class_of(pod), node, now_s=now_s)
        return self._objecting.unreserved(pod, node)

    def _refused(self, pod: Pod, error: str, told: Command) -> Commands:
        """Answer a bind that cannot begin; the reservation is of no use any more."""
        withdrawn = self.tracking.withdraw(pod.uid)
        return (told, *self._led(withdrawn), AnswerBind(uid=pod.uid, error=error))

    def _went_on(self, progress: Progress) -> Commands:
        """Return what binds ask for, with the answers of those that have ended."""
        commands, ended = progress
        for bind in ended:
            commands += self._answered(bind)
        return tuple(commands)

    def _answered(self, bind: Bind) -> Commands:
        is_bound = not bind.error
        self.tracking.end_binding(bind.uid, is_bound=is_bound, marked_s=bind.marked_s)
        pod = self.tracking.waiting.get(bind.uid) or self._nominal(bind)
        told = events.not_bound(pod, bind.error) if bind.error else events.bound(pod, bind.node)
        return (told, AnswerBind(uid=bind.uid, error=bind.error))

    def _nominal(self, bind: Bind) -> Pod:
        """Return what stands for a pod that does not wait any more."""
        return Pod(namespace=bind.namespace, name=bind.name, uid=bind.uid, spec=PodSpec())

    # Knowing

    def _know(self, pod: Pod) -> None:
        key = pod.namespace, pod.name
        self._names[key], self._keys[pod.uid] = pod.uid, key

    def _ended(self, uid: str, *, now_s: float) -> Commands:
        """Let binds go on that wait for a pod which has ended, and give up its own."""
        key = self._keys.pop(uid, None)
        if key is None:
            return ()
        if self._names.get(key) == uid:
            del self._names[key]
        own = self._queues.pod_ended(uid, now_s=now_s)
        return (*self._went_on(own), *self._went_on(self._queues.owner_gone(key, now_s=now_s)))

    def restrict(self, limits: Limits) -> None:
        """Let these limits be in force; what tables say of namespaces with limits is judged anew."""
        self.ledger.quotas.limits = limits
        self._classes.renew()
        self.ledger.log_quotas()

    # Asking for changes

    def _led(self, commands: Commands) -> Commands:
        return commands if self.is_leading else ()

    def _asking(self, name: str, wanted: Mapping[str, str | None]) -> Commands:
        return self._led((PatchNode(name=name, annotations=wanted),) if wanted else ())

    def _judged_again(self, nodes: Sequence[Known], *, now_s: float) -> Commands:
        return tuple(
            command
            for known in nodes
            for command in self._asking(known.node.name, self.stock.judge(known, now_s=now_s))
        )

"""A cluster in memory around the live scheduler: objects with versions, and commands performed on them.

Nothing waits: what the scheduler asks for is done at once, and told back as informers would tell it. A
test orders faults by the command that is to fail next.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from springtide.base.annotations import BIND_PHASE, NODE, NODE_LOCK
from springtide.engine.live import (
    AnswerBind,
    Command,
    Commands,
    CreateBinding,
    Done,
    Failed,
    Fault,
    Filtered,
    Live,
    LiveSettings,
    NodeRead,
    Outcome,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
    RecordEvent,
)
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import Ascend
from springtide.vendors.nvidia import Nvidia
from tests.builders import node, resources

NOW_S = 1_767_225_900.0
"""2026-01-01 00:05:00 UTC."""


LOST = "the answer was lost"
"""The message of a failure after which the command has been performed all the same."""


def both_families() -> dict[str, DeviceFamily]:
    """Return the families of a cluster."""
    nvidia, ascend = Nvidia(), Ascend()
    return {nvidia.name: nvidia, ascend.name: ascend}


class Cluster:
    """Nodes and pods as the API server has them, and a live scheduler that sees them."""

    def __init__(self, settings: LiveSettings | None = None) -> None:
        self.families = both_families()
        self.settings = settings or LiveSettings(scheduler_name="hami-scheduler")
        self.live = Live(self.families, self.settings)
        self.now_s = NOW_S
        self.nodes: dict[str, Node] = {}
        self.versions: dict[str, int] = {}
        self.pods: dict[str, Pod] = {}
        self.faults: dict[type, list[Failed]] = {}
        self.bind_faults: dict[type, list[Failed]] = {}
        self.performed: list[Command] = []
        self.answers: dict[str, str] = {}
        self.tells = True

    # What users, kubelets and plugins do

    def add(self, *nodes: Node) -> None:
        """Add nodes or change them."""
        for each in nodes:
            self.nodes[each.name] = each
            self.versions[each.name] = self.versions.get(each.name, 0) + 1
            self.perform(self.tell_node(each.name))

    def remove_node(self, name: str) -> None:
        """Delete a node."""
        del self.nodes[name]
        self.perform(self.live.node_gone(name, now_s=self.now_s))

    def annotate(self, name: str, notes: Mapping[str, str | None]) -> None:
        """Change annotations of a node."""
        node = self.nodes[name]
        self.add(replace(node, annotations=merged(node.annotations, notes)))

    def create(self, pod: Pod) -> Pod:
        """Create a pod as admission lets it, or as it is if it exists already."""
        self.pods[pod.uid] = pod
        self.tell_pod(pod.uid)
        return pod

    def change(self, uid: str, **fields: object) -> None:
        """Change a pod as its kubelet does."""
        self.pods[uid] = replace(self.pods[uid], **fields)
        self.tell_pod(uid)

    def delete(self, uid: str) -> None:
        """Delete a pod, or let a list be without it."""
        self.pods.pop(uid, None)
        self.perform(self.live.pod_gone(uid, now_s=self.now_s))

    def allocate(self, name: str) -> None:
        """Let the plugin of a node allocate for the pod that has the lock, and release it."""
        value = self.nodes[name].annotations.get(NODE_LOCK)
        if value is None:
            return
        owner = tuple(value.split(",")[1:])
        for uid, pod in list(self.pods.items()):
            if (pod.namespace, pod.name) == owner and not pod.is_finished:
                notes = merged(pod.annotations, {BIND_PHASE: "success"})
                self.change(uid, annotations=notes, phase="Running")
        self.annotate(name, {NODE_LOCK: None})

    # What kube-scheduler does

    def filter(
        self, pod: Pod, names: Sequence[str] | None = None, *, is_lost: bool = False
    ) -> Filtered:
        """Ask for a node, and write the reservation on the pod, unless the patch is lost."""
        if pod.uid not in self.pods:
            self.create(pod)
        asked = list(self.nodes) if names is None else list(names)
        answer = self.live.filter(self.pods[pod.uid], asked, now_s=self.now_s)
        self.perform(answer.events)
        if answer.patch is not None and (is_lost or not self._is_written(answer.patch)):
            self.perform(self.live.take_back(pod.uid))
            return Filtered(error="the annotation could not be written")
        return answer

    def _is_written(self, patch: PatchPod) -> bool:
        return isinstance(self.outcome(patch), Done)

    def bind(self, uid: str, node: str) -> str | None:
        """Bind a pod; None if there is no answer yet."""
        pod = self.pods.get(uid)
        namespace, name = (pod.namespace, pod.name) if pod else ("default", "gone")
        self.answers.pop(uid, None)
        self.perform(
            self.live.bind(uid=uid, namespace=namespace, name=name, node=node, now_s=self.now_s)
        )
        return self.answers.get(uid)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds
        self.perform(self.live.tick(now_s=self.now_s))

    # What the shell does

    def perform(self, commands: Commands) -> None:
        """Perform commands, and those that follow from what came of them."""
        waiting = list(commands)
        while waiting:
            command = waiting.pop(0)
            outcome = self.outcome(command)
            bind = getattr(command, "bind", "")
            if bind and outcome is not None:
                waiting += self.live.outcome(bind, outcome, now_s=self.now_s)

    def outcome(self, command: Command) -> Outcome | None:
        """Perform one command, or let it fail as ordered, and return what came of it."""
        self.performed.append(command)
        planned = self.faults.get(type(command))
        if getattr(command, "bind", ""):
            planned = planned or self.bind_faults.get(type(command))
        if not planned:
            return self._done(command)
        failure = planned.pop(0)
        if failure.message == LOST:
            self._done(command)
        return failure

    def _done(self, command: Command) -> Outcome | None:  # noqa: PLR0911 - one each
        match command:
            case AnswerBind(uid=uid, error=error):
                self.answers[uid] = error
                return None
            case RecordEvent():
                return None
            case PatchNode():
                return self._patched_node(command)
            case PatchPod():
                return self._patched_pod(command)
            case ReadNode(name=name):
                return self._read_node(name)
            case ReadPod(namespace=namespace, name=name):
                return self._read_pod(namespace, name)
            case CreateBinding():
                return self._bound(command)

    def _patched_node(self, command: PatchNode) -> Outcome:
        node = self.nodes.get(command.name)
        if node is None:
            return missing("node", command.name)
        if command.version and command.version != str(self.versions[command.name]):
            return Failed(fault=Fault.CONFLICT, message="the object has been modified")
        self.nodes[command.name] = replace(
            node, annotations=merged(node.annotations, command.annotations)
        )
        self.versions[command.name] += 1
        version = str(self.versions[command.name])
        if self.tells and not command.bind:
            self.perform(self.tell_node(command.name))
        return Done(version=version)

    def _patched_pod(self, command: PatchPod) -> Outcome:
        pod = self.pods.get(command.uid)
        if pod is None:
            return missing("pod", command.name)
        self.pods[pod.uid] = replace(
            pod,
            annotations=merged(pod.annotations, command.annotations),
            labels=merged(pod.labels, command.labels),
        )
        if self.tells:
            self.tell_pod(pod.uid)
        return Done()

    def _read_node(self, name: str) -> Outcome:
        if name not in self.nodes:
            return missing("node", name)
        node = self.nodes[name]
        return NodeRead(annotations=node.annotations, version=str(self.versions[name]))

    def _read_pod(self, namespace: str, name: str) -> Outcome:
        for pod in self.pods.values():
            if (pod.namespace, pod.name) == (namespace, name):
                return PodRead(is_finished=pod.is_finished, node=pod.node_name)
        return missing("pod", name)

    def _bound(self, command: CreateBinding) -> Outcome:
        pod = self.pods.get(command.uid)
        if pod is None:
            return missing("pod", command.name)
        if pod.node_name:
            return Failed(fault=Fault.CONFLICT, message=f"pod {pod.name} is already assigned")
        self.pods[pod.uid] = replace(pod, node_name=command.node)
        if self.tells:
            self.tell_pod(pod.uid)
        return Done()

    def tell_node(self, name: str) -> Commands:
        """Let the informer see a node as it is."""
        version = str(self.versions[name])
        return self.live.node_seen(self.nodes[name], now_s=self.now_s, version=version)

    def tell_pod(self, uid: str) -> None:
        """Let the informer see a pod as it is."""
        self.perform(self.live.pod_seen(self.pods[uid], now_s=self.now_s))

    # What tests look at

    def rebuilt(self) -> Live:
        """Return a live scheduler that has seen nothing but the objects as they are now."""
        fresh = Live(self.families, self.settings)
        for name, each in self.nodes.items():
            fresh.node_seen(each, now_s=self.now_s, version=str(self.versions[name]))
        for pod in self.pods.values():
            fresh.pod_seen(pod, now_s=self.now_s)
        return fresh

    def used(self, name: str, family: str = "NVIDIA") -> dict[str, tuple[int, int, int]]:
        """Return slots, memory and cores in use by device of a node, those in use only."""
        return used(self.live, name, family)

    def quota(self, namespace: str) -> dict[str, int]:
        """Return what a namespace holds, by resource."""
        return dict(self.live.ledger.quotas.counts().get(namespace, {}))

    def events(self) -> list[str]:
        """Return the events so far, as `Reason: message`."""
        return [f"{e.reason}: {e.message}" for e in self.performed if isinstance(e, RecordEvent)]

    def patches(self, name: str) -> list[PatchNode]:
        """Return the patches of a node so far."""
        return [e for e in self.performed if isinstance(e, PatchNode) and e.name == name]


def used(live: Live, name: str, family: str = "NVIDIA") -> dict[str, tuple[int, int, int]]:
    """Return slots, memory and cores in use by device of a node, those in use only."""
    row = live.ledger.rows.get(name)
    view = None if row is None else live.ledger.view(row, family)
    if view is None:
        return {}
    pairs = zip(view.inventory.devices, view.uses, strict=True)
    found = {device.id: (use.slots, use.memory_mib, use.cores) for device, use in pairs}
    return {device: use for device, use in found.items() if any(use)}


def gpu_node(
    name: str,
    *cards: Device,
    count: int | None = None,
    notes: Mapping[str, str] | None = None,
) -> Node:
    """Return a node that registers cards, and whose kubelet counts so many, by default ten each."""
    counted = 10 * len(cards) if count is None else count
    others = {"nvidia.com/gpu": counted} if counted else {}
    return node(name, cards=cards, others=others, annotations=notes)


def stored(pod: Pod) -> Pod:
    """Return a pod as admission stores it."""
    answer = admitted(pod, both_families())
    assert not isinstance(answer, Refusal), answer.text
    return answer


def merged(before: Mapping[str, str], notes: Mapping[str, str | None]) -> dict[str, str]:
    """Return annotations after a merge patch."""
    return {key: value for key, value in {**before, **notes}.items() if value is not None}


def missing(kind: str, name: str) -> Failed:
    """Return what the API server says of an object that is not there."""
    return Failed(fault=Fault.NOT_FOUND, message=f'{kind}s "{name}" not found')


def broken(message: str = "apiserver 500") -> Failed:
    """Return a failure of the API server."""
    return Failed(fault=Fault.OTHER, message=message)


def placed_pod(pod: Pod, *, on: str, text: str, **notes: str) -> Pod:
    """Return a pod with an allocation of NVIDIA cards on a node."""
    allocated = {NODE: on, "hami.io/vgpu-devices-allocated": text, **notes}
    return replace(pod, annotations={**pod.annotations, **allocated})


__all__ = ["NOW_S", "Cluster", "gpu_node", "placed_pod", "resources", "stored"]

"""Cards, containers, pods and small clusters for tests; every test says only what it is about."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import structs

from springtide.base.quantity import parse
from springtide.model.device import (
    Allocation,
    Device,
    DeviceView,
    Inventory,
    MigPlacement,
    MigProfile,
    Use,
)
from springtide.model.node import Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources
from springtide.vendors.nvidia import Nvidia, NvidiaAsk
from springtide.wire.hami import register
from tests.clusters import VGPU_NODE, DeviceCluster, admitted

REGISTER = "hami.io/node-nvidia-register"
PAIR_SCORES = "hami.io/node-nvidia-score"
ALLOCATED = "hami.io/vgpu-devices-allocated"
TO_ALLOCATE = "hami.io/vgpu-devices-to-allocate"
MIG_ALLOCATIONS = "hami.io/vgpu-mig-allocations"
DEVICE_POLICY = "hami.io/gpu-scheduler-policy"
NODE_POLICY = "hami.io/node-scheduler-policy"

_NAMES = {
    "gpu": "nvidia.com/gpu",
    "mem": "nvidia.com/gpumem",
    "pct": "nvidia.com/gpumem-percentage",
    "cores": "nvidia.com/gpucores",
    "priority": "nvidia.com/priority",
}


def profile(
    name: str, memory_mib: int, cores: int, slices: int, *, starts: Iterable[int], size: int
) -> MigProfile:
    return MigProfile(
        name=name,
        memory_mib=memory_mib,
        cores=cores,
        slices=slices,
        placements=tuple(MigPlacement(start=start, size=size) for start in starts),
    )


A100_PROFILES = (
    profile("1g.5gb", 5120, 14, 1, starts=range(7), size=1),
    profile("2g.10gb", 10240, 28, 2, starts=(0, 2, 4), size=2),
    profile("3g.20gb", 20480, 42, 3, starts=(0, 4), size=4),
    profile("7g.40gb", 40960, 100, 7, starts=(0,), size=8),
)


def card(
    device_id: str = "GPU-a",
    *,
    index: int = 0,
    slots: int = 10,
    memory_mib: int = 24576,
    cores: int = 100,
    model: str = "NVIDIA-A10",
    numa: int = 0,
    mode: str = "hami-core",
    is_healthy: bool = True,
    links: Mapping[str, int] | None = None,
) -> Device:
    return Device(
        id=device_id,
        index=index,
        slots=slots,
        memory_mib=memory_mib,
        cores=cores,
        type=model,
        numa=numa,
        mode=mode,
        is_healthy=is_healthy,
        links=tuple(sorted((links or {}).items())),
    )


def mig_card(device_id: str = "GPU-m", *, index: int = 0) -> Device:
    whole = card(
        device_id, index=index, slots=7, memory_mib=40960, mode="mig", model="NVIDIA A100-PCIE-40GB"
    )
    return structs.replace(whole, mig_profiles=A100_PROFILES)


def cards(*ids: str, memory_mib: int = 24576, numa: Sequence[int] | None = None) -> list[Device]:
    nodes = numa or [0] * len(ids)
    return [
        card(device_id, index=index, memory_mib=memory_mib, numa=nodes[index])
        for index, device_id in enumerate(ids)
    ]


def inventory(*devices: Device) -> Inventory:
    return Inventory("NVIDIA", devices)


def view(*states: Device | tuple[Device, Use]) -> DeviceView:
    pairs = [state if isinstance(state, tuple) else (state, Use()) for state in states]
    return DeviceView(
        inventory=inventory(*(device for device, _ in pairs)), uses=tuple(use for _, use in pairs)
    )


def used(slots: int = 1, memory_mib: int = 0, cores: int = 0) -> Use:
    return Use(slots=slots, memory_mib=memory_mib, cores=cores)


def resources(amounts: Mapping[str, str | int]) -> Resources:
    named = {_NAMES.get(name, name): parse(str(amount)) for name, amount in amounts.items()}
    return tuple(sorted(named.items(), key=lambda pair: pair[0]))


def container(name: str = "main", /, **limits: str | int) -> Container:
    return Container(name=name, limits=resources(limits), requests=resources(limits))


def pod(
    *containers: Container,
    init: Sequence[Container] = (),
    annotations: Mapping[str, str] | None = None,
    name: str = "pod",
) -> Pod:
    return Pod(
        namespace="team-a",
        name=name,
        uid=f"uid-{name}",
        spec=PodSpec(containers=containers, init_containers=tuple(init)),
        annotations=dict(annotations or {}),
    )


def ask(wanted: Pod, *, family: Nvidia | None = None) -> NvidiaAsk:
    """Return what the pod asks, as it was admitted."""
    family = family or Nvidia()
    answer = family.ask(admitted(family, wanted))
    assert isinstance(answer, NvidiaAsk), answer
    return answer


def place(wanted: Pod, node: DeviceView, *, family: Nvidia | None = None) -> list[list[str]] | str:
    """Return the ids that each container gets, or the refusal's text."""
    family = family or Nvidia()
    answer = family.place(ask(wanted, family=family), node)
    if isinstance(answer, Refusal):
        return answer.text
    return ids(answer)


def ids(allocation: Allocation) -> list[list[str]]:
    return [[grant.device_id for grant in grants] for grants in allocation.containers]


def registered(devices: Sequence[Device], *, name: str = "n1", **annotations: str) -> Node:
    """Return a node that registers these cards, their links included."""
    notes = {REGISTER: register.encode(devices)} | annotations
    links = [{"uuid": each.id, "score": dict(each.links)} for each in devices if each.links]
    if links:
        notes[PAIR_SCORES] = msgspec.json.encode(links).decode()
    return Node(name=name, annotations=notes)


class Cluster(DeviceCluster):
    """Nodes and running pods with NVIDIA cards."""

    def __init__(self, *nodes: Node, family: Nvidia | None = None) -> None:
        super().__init__(family or Nvidia(), *nodes)

    def run(self, name: str, node: str, allocated: str, **more: str) -> None:
        """Let a pod run that carries this allocation."""
        self.hold(pod(name=name, annotations={VGPU_NODE: node, ALLOCATED: allocated} | more))

    def texts(self, wanted: Pod) -> dict[str, str]:
        """Return every node's allocation text or refusal text."""
        return {
            name: self.family.encode(answer)[ALLOCATED]
            if isinstance(answer, Allocation)
            else answer.text
            for name, answer in self.answers(wanted).items()
        }

"""Chips, containers, pods and small clusters for tests; every test says only what it is about."""

from collections.abc import Mapping, Sequence

from springtide.base.quantity import parse
from springtide.model.device import Allocation, Device, DeviceView, Inventory, Use
from springtide.model.node import Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources
from springtide.vendors.ascend import Ascend, AscendAsk
from springtide.wire.hami import register
from tests.clusters import VGPU_NODE, DeviceCluster, admitted

SOFT = {"huawei.com/vnpu-mode": "hami-core"}
SOFT_NODE = {"hami-vnpu-core": "true"}
DEVICE_POLICY = "hami.io/gpu-scheduler-policy"
NODE_POLICY = "hami.io/node-scheduler-policy"


def allocated(word: str) -> str:
    return f"hami.io/{word}-devices-allocated"


def chip(
    device_id: str = "NPU-0",
    /,
    *,
    word: str = "Ascend910B3",
    index: int = 0,
    slots: int = 4,
    memory_mib: int = 65536,
    cores: int = 20,
    mode: str = "",
    network: int | None = None,
    is_healthy: bool = True,
) -> Device:
    return Device(
        id=device_id,
        index=index,
        slots=slots,
        memory_mib=memory_mib,
        cores=cores,
        type=word,
        mode=mode,
        network=network,
        is_healthy=is_healthy,
    )


def chips(
    *ids: str, word: str = "Ascend910B3", networks: Sequence[int | None] | None = None
) -> list[Device]:
    found = networks or [None] * len(ids)
    return [
        chip(each, word=word, index=index, network=found[index]) for index, each in enumerate(ids)
    ]


def view(*devices: Device, uses: Sequence[Use] | None = None) -> DeviceView:
    free = [Use()] * len(devices)
    return DeviceView(inventory=Inventory("Ascend", devices), uses=tuple(uses or free))


def resources(word: str, amounts: Mapping[str, str | int]) -> Resources:
    """Return amounts of one kind of chip: `count`, `memory`, `core`; other names as they are."""
    names = {
        "count": f"huawei.com/{word}",
        "memory": f"huawei.com/{word}-memory",
        "core": f"huawei.com/{word}-core",
    }
    named = {names.get(name, name): parse(str(amount)) for name, amount in amounts.items()}
    return tuple(sorted(named.items(), key=lambda pair: pair[0]))


def container(name: str = "main", word: str = "Ascend910B3", /, **limits: str | int) -> Container:
    amounts = resources(word, limits)
    return Container(name=name, limits=amounts, requests=amounts)


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


def ask(wanted: Pod, *, family: Ascend | None = None) -> AscendAsk:
    """Return what the pod asks, as it was admitted."""
    family = family or Ascend()
    answer = family.ask(admitted(family, wanted))
    assert isinstance(answer, AscendAsk), answer
    return answer


def limits_after(
    wanted: Container, *, annotations: Mapping[str, str] | None = None, family: Ascend | None = None
) -> Resources | str:
    """Return the container's limits after admission, or why the pod is denied."""
    answer = (family or Ascend()).admit(pod(wanted, annotations=annotations))
    return answer.text if isinstance(answer, Refusal) else answer.containers[0].limits


def place(wanted: Pod, node: DeviceView, *, family: Ascend | None = None) -> list[list[str]] | str:
    """Return the ids that each container gets, or the refusal's text."""
    family = family or Ascend()
    answer = family.place(ask(wanted, family=family), node)
    return answer.text if isinstance(answer, Refusal) else ids(answer)


def ids(allocation: Allocation) -> list[list[str]]:
    return [[grant.device_id for grant in grants] for grants in allocation.containers]


def registered(
    *devices: Device, name: str = "n1", annotations: Mapping[str, str] | None = None
) -> Node:
    """Return a node that registers these chips, each under the word that is its type."""
    notes = {
        f"hami.io/node-register-{word}": register.encode(
            [device for device in devices if device.type == word]
        )
        for word in {device.type for device in devices}
    }
    return Node(name=name, annotations=notes | dict(annotations or {}))


class Cluster(DeviceCluster):
    """Nodes and running pods with NPUs."""

    def __init__(self, *nodes: Node, family: Ascend | None = None) -> None:
        super().__init__(family or Ascend(), *nodes)

    def run(self, name: str, node: str, word: str, text: str) -> None:
        """Let a pod run that carries this allocation."""
        self.hold(pod(name=name, annotations={VGPU_NODE: node, allocated(word): text}))

    def picks(self, wanted: Pod) -> dict[str, list[list[str]] | str]:
        """Return every node's chips by container, or its refusal's text."""
        return {
            name: ids(answer) if isinstance(answer, Allocation) else answer.text
            for name, answer in self.answers(wanted).items()
        }

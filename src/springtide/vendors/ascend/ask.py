"""What a pod asks of Ascend NPUs, read from its containers and annotations."""

from typing import Final

import msgspec

from springtide.engine.placement.amounts import INT32_MAX, amount, weights_in
from springtide.engine.placement.filters import Names, names_in
from springtide.engine.placement.score import EVEN, Weights
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Device
from springtide.model.pod import Container, Pod
from springtide.model.refusal import Refusal
from springtide.vendors.ascend.config import FAMILY_NAME, SOFT, AscendConfig, Chip
from springtide.wire.hami import keys
from springtide.wire.hami.numbers import parse_bool

SPLIT_MODE: Final = "huawei.com/vnpu-mode"
USE_IDS: Final = "hami.io/use-{word}-uuid"
AVOID_IDS: Final = "hami.io/no-use-{word}-uuid"


class Request(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """What one container asks of one kind of chip: a number, and of each memory and cores.

    Memory 0 means the whole chip.
    """

    chip: Chip
    count: int
    memory_mib: int = 0
    cores: int = 0
    use_ids: Names = None
    avoid_ids: Names = None

    @property
    def needs_pairs(self) -> bool:
        """Return whether the request is served with whole modules."""
        return self.chip.is_paired and self.count > 1


Wanted = tuple[Request, ...]
"""What one container asks, one request for each kind of chip."""


class AscendAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """What a pod asks: requests or None per container, init containers first, and its policies."""

    requests: tuple[Wanted | None, ...]
    init_count: int = 0
    node_policy: str
    device_policy: str
    weights: Weights = EVEN
    numa_bind: bool = False
    is_soft: bool = False

    @property
    def family(self) -> str:
        """Return the name of the family that understands this ask."""
        return FAMILY_NAME

    @property
    def names_devices(self) -> bool:
        """Return whether the ask requires devices by id, which no future node can have."""
        return any(request.use_ids is not None for request in self.all_requests())

    @property
    def reads_ids(self) -> bool:
        """Return whether chips that are equal but for their ids may be answered differently."""
        ids = (
            each for request in self.all_requests() for each in (request.use_ids, request.avoid_ids)
        )
        return any(each is not None for each in ids)

    def all_requests(self) -> list[Request]:
        """Return the requests of all containers."""
        return [request for wanted in self.requests for request in wanted or ()]


def annotations_of(config: AscendConfig) -> frozenset[str]:
    """Return the pod annotations that change what the family answers."""
    by_chip = (key.format(word=chip.word) for chip in config.chips for key in (USE_IDS, AVOID_IDS))
    return frozenset(
        {
            SPLIT_MODE, keys.NUMA_BIND, keys.NODE_POLICY, keys.DEVICE_POLICY, keys.SCORING_WEIGHTS,
            *by_chip,
        }
    )  # fmt: skip


def is_soft(pod: Pod) -> bool:
    """Return whether the pod wants chips shared without templates."""
    return pod.annotations.get(SPLIT_MODE) == SOFT


def ask_of(
    pod: Pod, config: AscendConfig, *, node_policy: str, device_policy: str
) -> AscendAsk | Refusal | None:
    """Return what the pod asks; None if it asks nothing, a Refusal if the ask makes no sense."""
    requests: list[Wanted | None] = []
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        wanted = _wanted(container, pod, config)
        if isinstance(wanted, Refusal):
            return wanted
        requests.append(wanted or None)
    if not any(requests):
        return None
    notes = pod.annotations
    key = keys.SCORING_WEIGHTS
    weights = weights_in(notes.get(key), key=key, family=FAMILY_NAME)
    if isinstance(weights, Refusal):
        return weights
    return AscendAsk(
        requests=tuple(requests),
        init_count=len(pod.spec.init_containers),
        node_policy=notes.get(keys.NODE_POLICY, node_policy),
        device_policy=notes.get(keys.DEVICE_POLICY, device_policy),
        weights=weights,
        numa_bind=parse_bool(notes.get(keys.NUMA_BIND, "")) is True,
        is_soft=is_soft(pod),
    )


def request_of(container: Container, chip: Chip, pod: Pod) -> Request | Refusal | None:
    """Return what a container asks of one kind of chip; None if nothing, or a Refusal."""
    factor = max(chip.memory_factor, 1)
    count = _amount(container, chip.count_name)
    if isinstance(count, Refusal) or not count:
        return count or None
    memory = _amount(container, chip.memory_name, maximum=INT32_MAX // factor)
    if isinstance(memory, Refusal):
        return memory
    cores = _amount(container, chip.cores_name)
    if isinstance(cores, Refusal):
        return cores
    return Request(
        chip=chip,
        count=count,
        memory_mib=(memory or 0) * factor,
        cores=cores or 0,
        use_ids=names_in(pod.annotations.get(USE_IDS.format(word=chip.word))),
        avoid_ids=names_in(pod.annotations.get(AVOID_IDS.format(word=chip.word))),
    )


def memory_asked(request: Request, device: Device) -> int:
    """Return the MiB that a request means on this chip."""
    return request.memory_mib or device.memory_mib


def cores_asked(request: Request) -> int:
    """Return the cores that a request means on any chip."""
    return min(request.cores, PERCENT)


def _wanted(container: Container, pod: Pod, config: AscendConfig) -> Wanted | Refusal:
    found: list[Request] = []
    for chip in config.chips:
        request = request_of(container, chip, pod)
        if isinstance(request, Refusal):
            return request
        if request is not None:
            found.append(request)
    return tuple(found)


def _amount(container: Container, name: str, *, maximum: int = INT32_MAX) -> int | Refusal | None:
    return amount(container, name, family=FAMILY_NAME, maximum=maximum)

"""What a pod asks of NVIDIA cards, read from its containers and annotations."""

from typing import Final

import msgspec

from springtide.engine.placement.amounts import INT32_MAX, amount, weights_in
from springtide.engine.placement.filters import Names, names_in
from springtide.engine.placement.score import EVEN, Weights
from springtide.engine.placement.trial import PERCENT
from springtide.model.pod import Container, Pod
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia.config import FAMILY_NAME, NvidiaConfig
from springtide.wire.hami import keys
from springtide.wire.hami.numbers import parse_bool

USE_TYPES: Final = "nvidia.com/use-gputype"
AVOID_TYPES: Final = "nvidia.com/nouse-gputype"
USE_IDS: Final = "nvidia.com/use-gpuuuid"
AVOID_IDS: Final = "nvidia.com/nouse-gpuuuid"
VGPU_MODE: Final = "nvidia.com/vgpu-mode"

ANNOTATIONS: Final = frozenset(
    {
        USE_TYPES, AVOID_TYPES, USE_IDS, AVOID_IDS, VGPU_MODE,
        keys.NUMA_BIND, keys.NODE_POLICY, keys.DEVICE_POLICY, keys.SCORING_WEIGHTS,
    }
)  # fmt: skip


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one container asks: a number of cards, and per card memory and cores.

    Memory in MiB wins over a percentage; 0 and None mean that it is not given.
    """

    count: int
    memory_mib: int = 0
    memory_pct: int | None = None
    cores: int = 0


class Allowance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a namespace's quota leaves to a pod of all cards together; None where it does not matter."""

    memory_mib: int | None = None
    cores: int | None = None

    def covers(self, memory_mib: int, cores: int) -> bool:
        """Return whether a pod may have so much."""
        is_enough = self.memory_mib is None or memory_mib <= self.memory_mib
        return is_enough and (self.cores is None or cores <= self.cores)


class NvidiaAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """What a pod asks: a request or None per container, init containers first, and its policies.

    `allowance` is there where a quota may keep the pod from what it asks. `is_strict` asks for HAMi's
    peculiarities of placement.
    """

    requests: tuple[Request | None, ...]
    init_count: int = 0
    node_policy: str
    device_policy: str
    weights: Weights = EVEN
    use_types: Names = None
    avoid_types: Names = None
    use_ids: Names = None
    avoid_ids: Names = None
    numa_bind: bool = False
    vgpu_mode: str | None = None
    allowance: Allowance | None = None
    is_strict: bool = False

    @property
    def family(self) -> str:
        """Return the name of the family that understands this ask."""
        return FAMILY_NAME

    @property
    def names_devices(self) -> bool:
        """Return whether the ask requires devices by id, which no future node can have."""
        return self.use_ids is not None

    @property
    def reads_ids(self) -> bool:
        """Return whether cards that are equal but for their ids may be answered differently."""
        return self.use_ids is not None or self.avoid_ids is not None

    @property
    def accepts_mig(self) -> bool:
        """Return whether MIG cards may serve the ask."""
        return self.vgpu_mode is None or "mig" in self.vgpu_mode


def ask_of(
    pod: Pod,
    config: NvidiaConfig,
    *,
    node_policy: str,
    device_policy: str,
    is_strict: bool = False,
) -> NvidiaAsk | Refusal | None:
    """Return what the pod asks; None if it asks nothing, a Refusal if the ask makes no sense."""
    requests: list[Request | None] = []
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        request = request_of(container, config)
        if isinstance(request, Refusal):
            return request
        requests.append(request)
    if not any(requests):
        return None
    notes = pod.annotations
    key = keys.SCORING_WEIGHTS
    weights = weights_in(notes.get(key), key=key, family=FAMILY_NAME)
    if isinstance(weights, Refusal):
        return weights
    return NvidiaAsk(
        requests=tuple(requests),
        init_count=len(pod.spec.init_containers),
        node_policy=notes.get(keys.NODE_POLICY, node_policy),
        device_policy=notes.get(keys.DEVICE_POLICY, device_policy),
        weights=weights,
        use_types=names_in(notes.get(USE_TYPES)),
        avoid_types=names_in(notes.get(AVOID_TYPES)),
        use_ids=names_in(notes.get(USE_IDS)),
        avoid_ids=names_in(notes.get(AVOID_IDS)),
        numa_bind=parse_bool(notes.get(keys.NUMA_BIND, "")) is True,
        vgpu_mode=notes.get(VGPU_MODE),
        is_strict=is_strict,
    )


def request_of(container: Container, config: NvidiaConfig) -> Request | Refusal | None:
    """Return what one container asks; None if nothing, a Refusal if it makes no sense."""
    factor = max(config.memory_factor, 1)
    count = _amount(container, config.count_name)
    if isinstance(count, Refusal) or not count:
        return count or None
    memory = _amount(container, config.memory_name, maximum=INT32_MAX // factor)
    pct = _amount(container, config.percentage_name)
    cores = _amount(container, config.cores_name)
    for answer in (memory, pct, cores):
        if isinstance(answer, Refusal):
            return answer
    assert not isinstance(memory, Refusal)
    assert not isinstance(pct, Refusal)
    assert not isinstance(cores, Refusal)
    memory_mib = (memory or 0) * factor
    memory_pct = min(pct, PERCENT) if pct else None
    if not memory_mib and memory_pct is None:
        memory_mib = config.default_memory_mib
        memory_pct = None if memory_mib else PERCENT
    return Request(
        count=count,
        memory_mib=memory_mib,
        memory_pct=memory_pct,
        cores=config.default_cores if cores is None else cores,
    )


def _amount(container: Container, name: str, *, maximum: int = INT32_MAX) -> int | Refusal | None:
    return amount(container, name, family=FAMILY_NAME, maximum=maximum)

"""What NVIDIA cards count for against the quota of a namespace, and how a quota bounds an ask.

Memory and cores are limited, each under its resource name. A pod counts as it is charged: per card the
larger of what its init containers take and what its app containers take together.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import structs

from springtide.engine.placement.collapse import collapse
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Allocation, Grant
from springtide.model.device_columns import DeviceColumns
from springtide.model.pod import Container, Pod
from springtide.model.resources import AmountList
from springtide.vendors.nvidia import mig
from springtide.vendors.nvidia.ask import Allowance, NvidiaAsk, Request, request_of
from springtide.vendors.nvidia.config import NvidiaConfig

_NOTHING = -1
"""Less than any pod takes, even one that asks for nothing of the resource."""

Grants = Sequence[Grant]


class Sums(msgspec.Struct, frozen=True, gc=False):
    """Memory and cores of all cards together."""

    memory_mib: int
    cores: int


class Bound:
    """A pod while its containers are placed: what they got so far, and whether more is allowed.

    Init containers come first; every container is told by what it was granted.
    """

    __slots__ = ("_allowance", "_granted", "_init_count")

    def __init__(self, ask: NvidiaAsk, allowance: Allowance) -> None:
        self._allowance = allowance
        self._init_count = sum(each is not None for each in ask.requests[: ask.init_count])
        self._granted: list[Grants] = []

    def note(self, grants: Grants) -> None:
        """Take in what the next container got."""
        self._granted.append(grants)

    def allows(self, grants: Grants) -> bool:
        """Return whether the next container may have so much on top."""
        sums = held([*self._granted, grants], self._init_count)
        return self._allowance.covers(sums.memory_mib, sums.cores)


def factors_of(config: NvidiaConfig) -> Mapping[str, int]:
    """Return the resources that a quota may limit, with what its limits are multiplied by."""
    found = {config.memory_name: max(config.memory_factor, 1), config.cores_name: 1}
    return {name: factor for name, factor in found.items() if name}


def charges_of(allocation: Allocation, config: NvidiaConfig) -> AmountList:
    """Return what an allocation counts for."""
    return _named(held(allocation.containers, allocation.init_count), config)


def stated_by(pod: Pod, config: NvidiaConfig) -> AmountList:
    """Return what a pod states outright: the larger of its apps together and its largest init."""
    inits = [_stated(each, config) for each in pod.spec.init_containers]
    apps = [_stated(each, config) for each in pod.spec.containers]
    memory_mib, cores = (
        max(max((each[part] for each in inits), default=0), sum(each[part] for each in apps))
        for part in (0, 1)
    )
    return _named(Sums(memory_mib, cores), config)


def most_of(ask: NvidiaAsk, columns: DeviceColumns, *, config: NvidiaConfig) -> AmountList:
    """Return the most that a pod could take of these cards."""
    largest = columns.largest_mib
    may_be_cut = ask.accepts_mig and columns.modes.known(mig.MODE) is not None
    memory_mib = cores = 0
    for request in _requests(ask):
        mib = request.memory_mib or largest * (request.memory_pct or 0) // PERCENT
        # An instance may be larger than what was asked for.
        memory_mib += request.count * (max(mib, largest) if may_be_cut else mib)
        cores += request.count * (PERCENT if may_be_cut else min(request.cores, PERCENT))
    return _named(Sums(memory_mib, cores), config)


def within(ask: NvidiaAsk, left: Mapping[str, int], *, config: NvidiaConfig) -> NvidiaAsk:
    """Return the ask as it is where no more than this is left of these resources."""
    least_mib = min(request.memory_mib for request in _requests(ask))
    least_cores = min(min(request.cores, PERCENT) for request in _requests(ask))
    allowance = Allowance(
        memory_mib=_usable(left.get(config.memory_name), least_mib),
        cores=_usable(left.get(config.cores_name), least_cores),
    )
    return structs.replace(ask, allowance=allowance)


def held(containers: Sequence[Grants], init_count: int) -> Sums:
    """Return what these containers hold; the first `init_count` of them are init containers."""
    charges = collapse(containers, init_count)
    return Sums(sum(each.memory_mib for each in charges), sum(each.cores for each in charges))


def _usable(left: int | None, least: int) -> int | None:
    """Return what is left; what is less than enough for one card is as good as nothing."""
    return _NOTHING if left is not None and left < least else left


def _stated(container: Container, config: NvidiaConfig) -> tuple[int, int]:
    request = request_of(container, config)
    if not isinstance(request, Request):
        return 0, 0
    return request.count * request.memory_mib, request.count * request.cores


def _requests(ask: NvidiaAsk) -> Iterator[Request]:
    return (request for request in ask.requests if request is not None)


def _named(sums: Sums, config: NvidiaConfig) -> AmountList:
    pairs = ((config.memory_name, sums.memory_mib), (config.cores_name, sums.cores))
    return tuple((name, amount) for name, amount in pairs if name)

"""Whether and where a pod fits on the chips of one node, exactly.

Chips are tried from the most preferred one; each refuses for the first check that fails or is picked.
Where chips belong together all that would do are collected first, and those are chosen that do.
"""

from collections.abc import Sequence
from functools import lru_cache, partial

from springtide.engine.placement import checks
from springtide.engine.placement.containers import Grants, place_containers
from springtide.engine.placement.filters import type_matches, uuid_ok
from springtide.engine.placement.order import MUTEX, has_token
from springtide.engine.placement.trial import (
    INVENTORIES_MAX,
    PERCENT,
    Added,
    Trial,
    charged_positions,
)
from springtide.model.device import Allocation, Device, DeviceView, Grant, Inventory
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import topology
from springtide.vendors.ascend.ask import AscendAsk, Request, Wanted, cores_asked, memory_asked
from springtide.vendors.ascend.config import FAMILY_NAME, SOFT


def place(ask: AscendAsk, view: DeviceView, *, ranks: tuple[int, ...] = ()) -> Allocation | Refusal:
    """Return what each container of the pod gets on this node, or why the pod does not fit."""

    def fresh() -> Trial:
        return Trial(view, ranks)

    def fit(trial: Trial, wanted: Wanted) -> Grants | Refusal:
        return fit_container(ask, wanted, trial)

    containers = place_containers(ask.requests, init_count=ask.init_count, fresh=fresh, fit=fit)
    if isinstance(containers, Refusal):
        return containers
    return Allocation(family=FAMILY_NAME, containers=containers, init_count=ask.init_count)


def fit_container(ask: AscendAsk, wanted: Wanted, trial: Trial) -> Grants | Refusal:
    """Return the chips that one container gets, charged to the trial, or why it gets none."""
    order = trial.order(
        ask.device_policy, partial(_added, wanted), weights=ask.weights, numa_bind=ask.numa_bind
    )
    grants: list[Grant] = []
    for request in wanted:
        answer = _fit_request(ask, request, trial, order)
        if isinstance(answer, Refusal):
            return answer
        grants += answer
    return tuple(grants)


@lru_cache(maxsize=INVENTORIES_MAX)
def candidates_of(word: str, inventory: Inventory) -> frozenset[int]:
    """Return the positions of the chips whose type contains this word, in any case.

    So a request for `Ascend910B4` may be served by an `Ascend910B4-1` on the same node.
    """
    return frozenset(
        position
        for position, device in enumerate(inventory.devices)
        if type_matches(word, device.type)
    )


def is_by_network(request: Request, networks: Sequence[int | None]) -> bool:
    """Return whether chips are chosen by network, given those of all candidates."""
    return request.chip.is_networked and None not in networks


def _fit_request(
    ask: AscendAsk, request: Request, trial: Trial, order: Sequence[int]
) -> list[Grant] | Refusal:
    candidates = candidates_of(request.chip.word, trial.inventory)
    if request.count > len(candidates):
        return checks.node_short(FAMILY_NAME)
    devices = trial.devices
    if ask.is_soft and any(devices[position].mode != SOFT for position in candidates):
        return checks.node_mode(FAMILY_NAME, len(candidates))
    walk = _Walk(ask, request, trial)
    by_network = is_by_network(request, [devices[position].network for position in candidates])
    tries = [position for position in order if position in candidates]
    walk.along(tries, wants_all=request.needs_pairs or by_network)
    picked = _chosen(request, walk.picked, devices, by_network=by_network)
    if len(picked) == request.count:
        return [_granted(ask, request, trial, position) for position in picked]
    # HAMi counts pairs out of the chips that are asked for, not out of the candidates.
    total = request.count if request.needs_pairs else len(candidates)
    return checks.refusal_of(
        FAMILY_NAME, walk.counts, picked=len(picked), total=total, tells_none=request.needs_pairs
    )


def _chosen(
    request: Request, collected: list[int], devices: Sequence[Device], *, by_network: bool
) -> list[int]:
    """Return the chips that are given of those that would do; not as many if they do not suffice."""
    if request.needs_pairs:
        return topology.whole_modules(devices, collected, request.count)
    if by_network and len(collected) > request.count:
        return topology.nearest(devices, collected, request.count)
    return collected


class _Walk:
    """One walk over the chips for one request: what was picked, and why others refused."""

    __slots__ = ("_cores", "_is_mutex", "_is_soft", "_request", "_trial", "counts", "picked")

    def __init__(self, ask: AscendAsk, request: Request, trial: Trial) -> None:
        self._request = request
        self._trial = trial
        self._is_soft = ask.is_soft
        self._is_mutex = has_token(ask.device_policy, MUTEX)
        self._cores = cores_asked(request)
        self.counts: dict[int, int] = {}
        self.picked: list[int] = []

    def along(self, tries: Sequence[int], *, wants_all: bool) -> None:
        """Try these chips in turn, until there are enough unless all are wanted."""
        for position in tries:
            code = self._check(position)
            if code:
                self.counts[code] = self.counts.get(code, 0) + 1
                continue
            self.picked.append(position)
            if len(self.picked) == self._request.count and not wants_all:
                return

    def _check(self, position: int) -> int:
        """Return the first check that refuses this chip, or 0."""
        request, trial = self._request, self._trial
        device = trial.devices[position]
        if not device.is_healthy:
            return checks.UNHEALTHY
        if not uuid_ok(device.id, use=request.use_ids, avoid=request.avoid_ids):
            return checks.OTHER_ID
        return (
            trial.check_slots(position, is_mutex=self._is_mutex)
            or trial.check_memory(position, memory_asked(request, device))
            or trial.check_cores(position, self._cores, total=self._cores_of(device))
        )

    def _cores_of(self, device: Device) -> int:
        # Cores are per cent of a chip under the soft split, and the chip's own unit otherwise.
        return PERCENT if self._is_soft else device.cores


def _added(wanted: Wanted, device: Device) -> Added | None:
    # HAMi adds to a device's load what requests of exactly its type ask.
    same = [request for request in wanted if request.chip.word == device.type]
    if not same:
        return None
    return Added(
        len(same),
        sum(request.cores for request in same),
        sum(memory_asked(request, device) for request in same),
    )


def _granted(ask: AscendAsk, request: Request, trial: Trial, position: int) -> Grant:
    memory_mib = memory_asked(request, trial.devices[position])
    cores = cores_asked(request)
    charged = charged_positions(trial.inventory)[position]
    trial.charge(charged, memory_mib=memory_mib, cores=cores)
    return Grant(
        device_id=trial.devices[charged].id,
        type=request.chip.word,
        memory_mib=memory_mib,
        cores=cores,
        profile="" if ask.is_soft else request.chip.trimmed(memory_mib).name,
    )

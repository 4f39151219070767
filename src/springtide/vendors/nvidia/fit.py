"""Whether and where a pod fits on the cards of one node, exactly.

Cards are tried from the most preferred one; each refuses for the first check that fails or is picked.
Refusals are counted, and picks that were not enough count as a reason too. One difference from HAMi is
deliberate: a MIG card counts once under the topology policy (unless too few cards remain, then its
instances count one by one), so that a pod's instances spread over cards as the policy promises. A
strict ask gets them as HAMi gives them: every instance that is free is a candidate of its own.
"""

from collections.abc import Sequence

from springtide.engine.placement import checks
from springtide.engine.placement.containers import place_containers
from springtide.engine.placement.order import MUTEX, TOPOLOGY_AWARE, has_token
from springtide.engine.placement.trial import PERCENT, charged_positions
from springtide.model.device import Allocation, DeviceView, Grant, Inventory
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import mig, topology
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import CardTrial, memory_asked
from springtide.vendors.nvidia.config import FAMILY_NAME
from springtide.vendors.nvidia.quota import Bound
from springtide.vendors.nvidia.screening import ceilings

Grants = tuple[Grant, ...]


def place(ask: NvidiaAsk, view: DeviceView, *, ranks: tuple[int, ...] = ()) -> Allocation | Refusal:
    """Return what each container of the pod gets on this node, or why the pod does not fit."""
    kind = view.inventory if ask.reads_ids else view.but_for_ids
    bound = None if ask.allowance is None else Bound(ask, ask.allowance)

    def fresh() -> CardTrial:
        return CardTrial(view, ask, kind=kind, bound=bound, ranks=ranks)

    def fit(trial: CardTrial, request: Request) -> Grants | Refusal:
        granted = fit_container(ask, request, trial)
        if bound is not None and not isinstance(granted, Refusal):
            bound.note(granted)
        return granted

    containers = place_containers(ask.requests, init_count=ask.init_count, fresh=fresh, fit=fit)
    if isinstance(containers, Refusal):
        return containers
    return Allocation(family=FAMILY_NAME, containers=containers, init_count=ask.init_count)


def fit_container(ask: NvidiaAsk, request: Request, trial: CardTrial) -> Grants | Refusal:
    """Return the cards that one container gets, charged to the trial, or why it gets none."""
    eligible = trial.eligible
    may_share_cards = eligible.has_mig and ask.accepts_mig
    if request.count > len(eligible.in_order) and not may_share_cards:
        return checks.node_short(FAMILY_NAME)
    return fit_cards(ask, request, trial)


def fit_cards(ask: NvidiaAsk, request: Request, trial: CardTrial) -> Grants | Refusal:
    """Return the cards that one container gets, as if nobody had counted the candidates first."""
    picked = _picked_at_once(ask, request, trial)
    if picked is not None:
        return _granted(picked, request, trial)
    walk = _walked(ask, request, trial)
    if len(walk.picked) < request.count:
        total = len(trial.eligible.in_order)
        return checks.refusal_of(FAMILY_NAME, walk.counts, picked=len(walk.picked), total=total)
    return _granted(walk.picked, request, trial)


def _picked_at_once(ask: NvidiaAsk, request: Request, trial: CardTrial) -> Sequence[int] | None:
    """Return what a walk would pick where no pick depends on another; None if it has to be walked."""
    if ask.numa_bind or trial.eligible.has_mig or has_token(ask.device_policy, TOPOLOGY_AWARE):
        return None
    if trial.bound is not None:
        return None
    serving = trial.serving(ceilings(ask, request, trial.kind))
    if len(serving) < request.count:
        return None
    if len(serving) > 1:
        serving = trial.tries(ask, request, among=serving)
    return serving[: request.count]


def _walked(ask: NvidiaAsk, request: Request, trial: CardTrial) -> "_Walk":
    tries = trial.tries(ask, request)
    if has_token(ask.device_policy, TOPOLOGY_AWARE):
        walk = _Walk(ask, request, trial, wants_all=True)
        walk.along(tries)
        if len(walk.picked) >= request.count:
            scores = pair_scores(trial.inventory, walk.picked)
            taken = topology.chosen(scores, request.count, alike=_alike(walk.picked))
            walk.picked = [walk.picked[index] for index in taken]
            return walk
        if ask.is_strict or not trial.eligible.has_mig:
            return walk
    walk = _Walk(ask, request, trial, wants_all=False)
    walk.along(tries)
    return walk


class _Walk:
    """One walk over the cards for one request: what was picked, and why others refused."""

    __slots__ = (
        "_cores",
        "_is_mutex",
        "_is_strict",
        "_numa_bind",
        "_request",
        "_trial",
        "_wants_all",
        "counts",
        "picked",
    )

    def __init__(
        self, ask: NvidiaAsk, request: Request, trial: CardTrial, *, wants_all: bool
    ) -> None:
        self._request = request
        self._trial = trial
        self._wants_all = wants_all
        self._numa_bind = ask.numa_bind
        self._is_mutex = has_token(ask.device_policy, MUTEX)
        self._is_strict = ask.is_strict
        self._cores = min(request.cores, PERCENT)
        self.counts: dict[int, int] = {}
        self.picked: list[int] = []

    def along(self, tries: Sequence[int]) -> None:
        """Try these cards in turn, until there are enough unless all are wanted."""
        trial = self._trial
        numa = -1
        for position in tries:
            code = trial.eligible.codes[position]
            if trial.opaque[position] and code != checks.UNHEALTHY:
                code = checks.OPAQUE
            if self._numa_bind and code not in checks.BEFORE_NUMA:
                if trial.devices[position].numa != numa:
                    self._give_up_picks()
                numa = trial.devices[position].numa
            if code:
                self._count(code)
            elif self._try(position):
                return

    def _try(self, position: int) -> bool:
        """Pick this card as often as it serves; return whether the request is satisfied."""
        is_mig = self._trial.devices[position].mode == mig.MODE
        while True:
            code = self._check(position, is_mig=is_mig)
            if code:
                self._count(code)
                return False
            self.picked.append(position)
            if self._wants_all and not (self._is_strict and is_mig):
                return False
            if len(self.picked) == self._request.count and not self._wants_all:
                return True
            if not is_mig:
                return False

    def _check(self, position: int, *, is_mig: bool) -> int:
        """Return the first check of use that refuses this card, or 0."""
        trial = self._trial
        device = trial.devices[position]
        memory_mib = memory_asked(self._request, device)
        code = (
            trial.check_slots(position, is_mutex=self._is_mutex)
            or self._check_quota(position)
            or trial.check_memory(position, memory_mib)
            or trial.check_cores(position, self._cores, total=device.cores)
        )
        if code or not is_mig:
            return code
        queued = [memory_mib] * self.picked.count(position)
        instance = trial.instance(position, queued, memory_mib=memory_mib)
        return checks.MIG_INFEASIBLE if instance is None else 0

    def _check_quota(self, position: int) -> int:
        """Return the check of the namespace's quota, which all cards of the pod count for, or 0."""
        trial = self._trial
        if trial.bound is None:
            return 0
        grants = [self._asked(each) for each in (*self.picked, position)]
        return 0 if trial.bound.allows(grants) else checks.QUOTA_EXCEEDED

    def _asked(self, position: int) -> Grant:
        """Return what the request takes of this card, before any instance is cut."""
        device = self._trial.devices[position]
        return Grant(
            device_id=device.id,
            type=FAMILY_NAME,
            memory_mib=memory_asked(self._request, device),
            cores=self._cores,
        )

    def _count(self, code: int, number: int = 1) -> None:
        self.counts[code] = self.counts.get(code, 0) + number

    def _give_up_picks(self) -> None:
        # Where every card is collected HAMi gives up picks of another NUMA node without a reason.
        if self.picked and not self._wants_all:
            self._count(checks.NUMA_LEFT, len(self.picked))
        self.picked.clear()


def pair_scores(inventory: Inventory, positions: Sequence[int]) -> list[list[int]]:
    """Return the link scores between these cards, 0 where the node publishes none."""
    ids = [inventory.devices[position].id for position in positions]
    links = [dict(inventory.devices[position].links) for position in positions]
    return [[towards.get(other, 0) for other in ids] for towards in links]


def _alike(picked: Sequence[int]) -> list[bool]:
    """Return which picks are another instance of the card before them."""
    return [index > 0 and picked[index - 1] == position for index, position in enumerate(picked)]


def _granted(picked: Sequence[int], request: Request, trial: CardTrial) -> Grants | Refusal:
    grants: list[Grant] = []
    for position in picked:
        grant = _grant(position, request, trial)
        if isinstance(grant, Refusal):
            return grant
        grants.append(grant)
    return tuple(grants)


def _grant(position: int, request: Request, trial: CardTrial) -> Grant | Refusal:
    charged = charged_positions(trial.inventory)[position]
    memory_mib = memory_asked(request, trial.devices[position])
    device = trial.devices[charged]
    if device.mode == mig.MODE:
        return _instance_grant(charged, memory_mib, trial)
    cores = min(request.cores, PERCENT)
    trial.charge(charged, memory_mib=memory_mib, cores=cores)
    return Grant(device_id=device.id, type=FAMILY_NAME, memory_mib=memory_mib, cores=cores)


def _instance_grant(position: int, memory_mib: int, trial: CardTrial) -> Grant | Refusal:
    device = trial.devices[position]
    instance = trial.instance(position, (), memory_mib=memory_mib)
    if instance is None:
        fault = "MIG profile and placement allocation failed"
        reason = f"AddResourceUsage failed for device {device.id}: {fault}"
        return Refusal(rule=FAMILY_NAME, reasons=(reason,))
    profile = instance.profile
    trial.charge(position, memory_mib=profile.memory_mib, cores=profile.cores)
    trial.occupy(position, instance.placement)
    return Grant(
        device_id=device.id,
        type=FAMILY_NAME,
        memory_mib=profile.memory_mib,
        cores=profile.cores,
        profile=profile.name,
        mig_placement=instance.placement,
    )

"""The controller that a service embeds: how many replicas, who takes new state, who keeps serving.

Start it inside a running event loop, tell it when you are ready and whether you hold state, and move your
state when the Target changes. It never scales anything. Everything that is asked of it is answered from a
snapshot, from any thread and without waiting.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

import msgspec

from springtide.base.clock import Calendar, Clock
from springtide.edge.lines import Log
from springtide.edge.store import Store, StoreFault
from springtide.engine.replicas.label_messages import StopAsked
from springtide.engine.replicas.phases import Phase
from springtide.engine.replicas.protection import Recovered
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.settings import ReplicaSettings
from springtide.model.replicas.values import CUSTOM
from springtide.replicas.asking import CALLBACK_S_MAX, Callback, YesOrNo
from springtide.replicas.context import Context, Identity, Times
from springtide.replicas.discoveries import DiscoverySetup
from springtide.replicas.discovery import Discovery
from springtide.replicas.occurrences import Kind, RoundChanged
from springtide.replicas.orders import Orders
from springtide.replicas.parts import Parts
from springtide.replicas.providing import ReplicaProvider
from springtide.replicas.pulling import Metrics, NoMetrics, PolicyPull
from springtide.replicas.snapshot import Snapshot

WATCH_S: Final = 0.2
"""So often a new snapshot is made while a round goes on or this member leaves."""
CALM_S: Final = 1.0
"""So often one is made otherwise, beside each time that something changes."""
LEAVE_S_MAX: Final = 5.0
PERMILLE: Final = 1000

SelectMode: TypeAlias = Literal["ready", "target"]
Setup: TypeAlias = Callable[["ReplicaController", PolicyPull], None]
End: TypeAlias = Callable[[], None]


class _Hooks(msgspec.Struct, frozen=True):
    setup: dict[str, list[Setup]]
    cleanup: dict[str, list[Setup]]


class ReplicaController:
    """One member's controller."""

    def __init__(
        self,
        settings: ReplicaSettings,
        identity: Identity,
        *,
        store: Store,
        clock: Clock,
        calendar: Calendar,
        log: Log,
        metrics: Metrics | None = None,
        drawn_permille: Callable[[], int] | None = None,
    ) -> None:
        self._context = Context(
            identity, settings, store=store, times=Times(clock, calendar), log=log
        )
        self._parts = Parts(
            self._context, metrics or NoMetrics(), drawn_permille=drawn_permille or _drawn_permille
        )
        self.orders = Orders(self._context, self._parts)
        self._hooks = _Hooks({}, {})
        self._running: asyncio.Task[None] | None = None
        self._drained = asyncio.Event()
        self._snapshot = self._parts.showing.snapshot()
        self._parts.labelling.renew = self._renew

    # -- what is known, for any thread

    @property
    def identity(self) -> Identity:
        """Return who this member is."""
        return self._context.identity

    def snapshot(self) -> Snapshot:
        """Return the latest moment."""
        return self._snapshot

    def is_ready(self) -> bool:
        """Return whether this member may serve, as of now: a snapshot may be some moments old."""
        return self._parts.labelling.is_ready

    def is_target(self) -> bool:
        """Return whether new state belongs here, as of now: take none once this is false."""
        return self._parts.labelling.is_target

    def is_leader(self) -> bool:
        """Return whether this member decides."""
        return self._parts.leading.is_leader

    def everybody(self) -> tuple[Member, ...]:
        """Return the members of all services that the store tells of."""
        return self._parts.following.everybody

    def exits(self) -> dict[str, int]:
        """Return how this member ended, drained or forced; empty while it lives."""
        return self._context.tally().exits

    def select(self, service: str, mode: SelectMode = "ready") -> list[Member]:
        """Return the members of a service that may serve, or at which state must finally live."""
        found = self.everybody()
        if mode == "target":
            return [each for each in found if each.service == service and each.is_target]
        return [each for each in found if each.service == service and each.is_ready]

    def policy(self, name: str) -> PolicyPull:
        """Return a policy, to subscribe to what Prometheus says of it; KeyError if there is none."""
        return self._parts.pulls.pulls[name]

    # -- what the application says

    def set_ready_check(
        self, check: YesOrNo | None, *, is_blocking: bool = False, timeout_s: float = CALLBACK_S_MAX
    ) -> None:
        """Ask this whether the member may serve: resources and data must really be there."""
        self._context.checks.set_ready(_callback(check, is_blocking, timeout_s))

    def set_stateful_check(
        self, check: YesOrNo | None, *, is_blocking: bool = False, timeout_s: float = CALLBACK_S_MAX
    ) -> None:
        """Ask this whether the member still holds state: objects, requests in flight, connections."""
        self._context.checks.set_stateful(_callback(check, is_blocking, timeout_s))

    def subscribe(
        self,
        kind: Kind,
        listener: Callable[[Any], Awaitable[None] | None],
        *,
        is_blocking: bool = False,
        timeout_s: float = CALLBACK_S_MAX,
    ) -> End:
        """Tell a listener all of this kind; the answer ends that."""
        return self._context.listeners.subscribe(kind, Callback(listener, is_blocking, timeout_s))

    def add_provider(self, name: str, provider: ReplicaProvider, *, priority: int = 0) -> End:
        """Ask the application itself how many replicas it needs; higher priorities are asked first."""
        providers = self._parts.performing.providers
        providers.add(name, provider, priority=priority)
        return lambda: providers.remove(name)

    def create_discovery(
        self, name: str, setup: DiscoverySetup, *, domain: str = CUSTOM, with_target: bool = True
    ) -> Discovery:
        """Make a discovery of the application's own; its setup adds policies now and after each reload.

        One of the same name goes on under the path and with the setup that are given now.
        """
        return self._parts.discoveries.create(name, setup, domain=domain, with_target=with_target)

    def find_discovery(self, name: str) -> Discovery | None:
        """Return the discovery that was made by this name."""
        return self._parts.discoveries.find(name)

    def remove_discovery(self, name: str) -> bool:
        """Drop it, and return whether there was one; its values stay in the store."""
        return self._parts.discoveries.remove(name)

    def on_setup(self, policy: str, function: Setup) -> None:
        """Call it with every policy of this name, now and after each reload: add observers there."""
        self._hooks.setup.setdefault(policy, []).append(function)
        if policy in self._parts.pulls.pulls:
            function(self, self._parts.pulls.pulls[policy])

    def on_cleanup(self, policy: str, function: Setup) -> None:
        """Call it before a policy of this name goes, at a reload and at the end."""
        self._hooks.cleanup.setdefault(policy, []).append(function)

    async def declare_recovered(self, *, holds_state: bool) -> None:
        """Say what this run recovered of the state of the run before it: none, or that it is here."""
        index = self._parts.labelling.state.plan.index
        if index is None:
            return
        record = Record(
            member=self._context.identity.name,
            boot=self._context.boot,
            at_ms=self._context.times.now_ms(),
        )
        event = Recovered(index=index, record=record, holds_state=holds_state, cause="application")
        await self._parts.labelling.keep(self._parts.labelling.tell_records(event))

    # -- the life of a controller

    async def start(self) -> None:
        """Register this member and begin; returns at once, and goes on in a task."""
        assert self._running is None, "a controller starts once"
        await self._parts.labelling.register()
        self._running = asyncio.create_task(self._run(), name="springtide-replicas")

    async def reload(self, settings: ReplicaSettings) -> None:
        """Take other settings; what is asked for is calmed anew only where it changed."""
        before = self._context.settings
        if _standing(settings) != _standing(before):
            raise ValueError(
                "The workload, the way of election and that of numbers stay as they are; "
                "start anew to change them."
            )
        if (settings.knobs.mode is Mode.OBSERVE) != (before.knobs.mode is Mode.OBSERVE):
            # Who observes meets the others elsewhere, and a member that was reloaded would stay there.
            raise ValueError(
                "Whether members only observe stays as it is; start anew to change it."
            )
        self._call_hooks(self._hooks.cleanup)
        self._context.settings = settings
        self._parts.pulls.reload()
        self._parts.leading.reload(before)
        self._call_hooks(self._hooks.setup)
        await self._parts.discoveries.reload()
        self._parts.following.stand()
        self._context.log("reloaded")

    async def stop(
        self,
        *,
        prestop: bool = False,
        target_offset_s: float | None = None,
        ready_offset_s: float | None = None,
    ) -> int:
        """Ask this member to leave; 1 while it still serves or something is still to be done, else 0.

        Call it again until it is 0, or wait for `drained`. Of several calls the earlier times hold.
        """
        self._parts.labelling.tell(
            StopAsked(
                now_ms=self._context.times.now_ms(),
                cause="stop",
                is_ahead=prestop,
                target_offset_ms=_whole_ms(target_offset_s),
                ready_offset_ms=_whole_ms(ready_offset_s),
            )
        )
        self._parts.following.stand()
        await self._parts.labelling.register()
        return 0 if self._is_drained() else 1

    async def drained(self) -> None:
        """Wait until a stop is over and the floor of zero was exported once more."""
        await self._drained.wait()

    async def close(self) -> None:
        """End at once, whatever this member holds; after a drain nobody misses it."""
        running, self._running = self._running, None
        self._parts.discoveries.close()
        if running is None:
            return
        self._call_hooks(self._hooks.cleanup)
        if not self._is_drained() and self._parts.labelling.state.is_ready:
            self._context.count_exit("forced")
        self._parts.labelling.tell(
            StopAsked(now_ms=self._context.times.now_ms(), cause="close", is_ahead=False)
        )
        self._parts.following.stand()
        running.cancel()
        await asyncio.wait([running])
        await self._leave()

    # -- inside

    def _renew(self) -> Snapshot:
        self._snapshot = self._parts.showing.snapshot()
        return self._snapshot

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._parts.run())
            group.create_task(self._watch())

    async def _watch(self) -> None:
        """Make a new snapshot now and then, and tell the phases of rounds."""
        seen: tuple[object, ...] = (None, None)
        while True:
            found = self._renew()
            if found.status is not None and found.phase is not None:
                now = (found.status.generation, found.phase)
                if now != seen:
                    seen = now
                    await self._context.listeners.tell(
                        RoundChanged(phase=found.phase, status=found.status)
                    )
            if self._is_drained():
                self._drained.set()
            await self._until_stirred()

    async def _until_stirred(self) -> None:
        """Wait until something may have changed, and at most as long as nobody misses a snapshot."""
        found = self._snapshot
        is_calm = found.phase in {None, Phase.DONE} and not found.is_stopping
        stirred = self._context.stirred
        with suppress(TimeoutError):
            async with asyncio.timeout(CALM_S if is_calm else WATCH_S):
                await stirred.wait()
        stirred.clear()

    def _is_drained(self) -> bool:
        state = self._parts.labelling.state
        if not state.plan.is_stopping or state.is_ready or not self._parts.labelling.is_idle:
            return False
        return self._parts.showing.has_lingered()

    async def _leave(self) -> None:
        try:
            async with asyncio.timeout(LEAVE_S_MAX):
                await self._parts.electing.close()
                await self._context.store.leave()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("leave", str(fault))

    def _call_hooks(self, hooks: dict[str, list[Setup]]) -> None:
        for name, functions in hooks.items():
            pull = self._parts.pulls.pulls.get(name)
            for each in functions if pull is not None else ():
                assert pull is not None
                each(self, pull)


def _standing(settings: ReplicaSettings) -> tuple[object, ...]:
    """Return what no reload can change."""
    return settings.workload, settings.knobs.election, settings.knobs.allocation


def _callback(
    check: YesOrNo | None,
    is_blocking: bool,  # noqa: FBT001
    timeout_s: float,
) -> Callback | None:
    return None if check is None else Callback(check, is_blocking, timeout_s)


def _whole_ms(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _drawn_permille() -> int:
    return random.randint(0, PERMILLE)  # noqa: S311 - it only spreads retries

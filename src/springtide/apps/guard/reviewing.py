"""What a review comes to: whom and what it is about, and whether that may be.

What takes nothing away is not looked at any further, so a guard that knows nothing keeps nobody from having
more replicas.
"""

import asyncio
from enum import StrEnum

import msgspec

from springtide.apps.guard import watching
from springtide.apps.guard.floors import Floors
from springtide.apps.guard.settings import Settings
from springtide.edge.cluster.errors import ClusterFault
from springtide.edge.kube.transport import Transport
from springtide.edge.lines import Log
from springtide.engine.guard import Change, GuardReason, Protected, Unknown, verdict
from springtide.wire.admission import Scaling, Workload


class Outcome(StrEnum):
    """Why a change may be; that it may not be has reasons of its own."""

    ELSEWHERE = "elsewhere"
    RAISED = "raised"
    UNGUARDED = "unguarded"
    EXEMPT = "exempt"
    DRAINED = "drained"


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: `message` says why not, empty if it may be."""

    outcome: str
    message: str = ""


class Reviewing:
    """Reviews changes of replicas."""

    def __init__(self, api: Transport, floors: Floors, settings: Settings, *, log: Log) -> None:
        self._api = api
        self._floors = floors
        self._settings = settings
        self._log = log

    async def review(self, asked: Scaling) -> Reviewed:
        """Return whether a change may be."""
        workload = asked.workload
        if workload is None:
            return Reviewed(outcome=Outcome.ELSEWHERE)
        if asked.before is not None and asked.after >= asked.before:
            # Nobody has to be asked about more.
            return Reviewed(outcome=Outcome.RAISED)
        found = await self._seen(workload)
        change = _change(asked, workload, found)
        if not change.is_lowering:
            return Reviewed(outcome=Outcome.RAISED)
        if not self._is_guarded(workload, found):
            return Reviewed(outcome=Outcome.UNGUARDED)
        refused = await self._refused(change, workload, found)
        if refused is None:
            return Reviewed(outcome=Outcome.DRAINED)
        return self._answered(asked, change, refused)

    def _answered(self, asked: Scaling, change: Change, refused: Protected) -> Reviewed:
        """Return the refusal, unless whoever asks may do so all the same."""
        is_exempt = self._settings.is_exempt(asked.user, asked.groups)
        self._log(
            "lowering_let_pass" if is_exempt else "lowering_refused",
            user=asked.user,
            workload=change.workload,
            replicas=change.after,
            reason=refused.reason,
        )
        if is_exempt:
            return Reviewed(outcome=Outcome.EXEMPT)
        return Reviewed(outcome=refused.reason, message=f"{refused.reason}: {refused.message}")

    def _is_guarded(self, workload: Workload, found: watching.Seen | Unknown) -> bool:
        """Return whether a workload is guarded; one that cannot be read may be."""
        if workload in self._settings.listed or isinstance(found, Unknown):
            return True
        return found.has(self._settings.mark)

    async def _refused(
        self, change: Change, workload: Workload, found: watching.Seen | Unknown
    ) -> Protected | None:
        is_listed = workload in self._settings.listed
        if isinstance(found, Unknown) and not is_listed:
            return verdict(change, found)
        return verdict(change, await self._floor(workload))

    async def _seen(self, workload: Workload) -> watching.Seen | Unknown:
        """Return what the cluster says of a workload; of one that is not there, nothing."""
        try:
            async with asyncio.timeout(self._settings.deadlines.request_s):
                return await watching.read(self._api, workload) or watching.Seen()
        except (ClusterFault, TimeoutError) as fault:
            self._log("workload_unread", is_fault=True, workload=workload.name, message=str(fault))
            why = "The guard cannot read it, nor whether it is guarded: look at the guard's log."
            return Unknown(reason=GuardReason.WORKLOAD_UNREAD, why=why)

    async def _floor(self, workload: Workload) -> int | Unknown:
        try:
            async with asyncio.timeout(self._settings.deadlines.request_s):
                return await self._floors.of(workload)
        except TimeoutError:
            why = "Prometheus or the API server does not answer: look at the guard's log."
            return Unknown(reason=GuardReason.FLOOR_UNKNOWN, why=why)


def _change(asked: Scaling, workload: Workload, found: watching.Seen | Unknown) -> Change:
    """Return the change; an autoscaler that is new to a workload lowers what that has now."""
    before = asked.before
    if before is None:
        # Of what cannot be read it is taken for granted that there are more.
        before = asked.after + 1 if isinstance(found, Unknown) else found.spec.replicas
    return Change(
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        before=before,
        after=asked.after,
        autoscaler=asked.autoscaler,
    )

"""What one question comes to: the table of its metric, the workload it is about, and a decision about both."""

from typing import Final

from msgspec.structs import replace

from springtide.apps.adapter.settings import RESOURCES, Served
from springtide.apps.adapter.tables import Tables
from springtide.apps.adapter.workloads import Place, Workloads
from springtide.base.clock import Clock
from springtide.engine.metrics import (
    Answered,
    AnswerReason,
    Asked,
    Refused,
    Table,
    Workload,
    answer,
)
from springtide.engine.metrics.answering import SURGE_MAX

KIND_LABEL: Final = "hpa_target_kind"
"""By it a question says of which kind its workload is; otherwise the configuration does."""


class Values:
    """Answers questions about the metrics that are served."""

    def __init__(self, tables: Tables, workloads: Workloads, *, clock: Clock) -> None:
        self._tables = tables
        self._workloads = workloads
        self._clock = clock

    async def of(self, served: Served, asked: Asked) -> Answered | Refused:
        """Return the value, or why there is none."""
        table = await self._tables.table(served.metric, asked.place)
        if table is None:
            return Refused(
                reason=AnswerReason.SOURCE_UNAVAILABLE,
                message=f"Nothing has been heard of {served.metric.name} yet. "
                "Look at the adapter's log and at where it queries.",
            )
        if not served.metric.checks_members:
            return self._decided(served, asked, table, None)
        return await self._checked(served, asked, table)

    async def _checked(self, served: Served, asked: Asked, table: Table) -> Answered | Refused:
        """Return an answer that agrees with the pods of its workload, or why there is none."""
        place = _place(served, asked)
        scale = await self._workloads.scale(place)
        workload = None if scale is None else scale.workload
        if workload is not None and served.metric.counts_records:
            workload = replace(workload, recorded=await self._workloads.recorded(place))
        found = self._decided(served, asked, table, workload)
        if _lacks_members(found) and scale is not None and workload is not None:
            members = await self._workloads.members(place, scale)
            workload = None if members is None else replace(workload, members=members)
            found = self._decided(served, asked, table, workload)
        if isinstance(found, Refused) or workload is None:
            return found
        is_beyond = found.value > workload.replicas + SURGE_MAX
        beyond_s = self._workloads.beyond(place, is_beyond=is_beyond)
        return self._decided(served, asked, table, replace(workload, beyond_s=beyond_s))

    def _decided(
        self, served: Served, asked: Asked, table: Table, workload: Workload | None
    ) -> Answered | Refused:
        now_s = self._clock.monotonic_s()
        return answer(served.metric, asked, table, now_s=now_s, workload=workload)


def _place(served: Served, asked: Asked) -> Place:
    required = served.metric.required
    bound = dict(zip(required, asked.place[-len(required) :], strict=True))
    kind = dict(asked.labels).get(KIND_LABEL, "")
    resource = RESOURCES.get(kind, served.resource)
    return Place(namespace=asked.namespace, resource=resource, name=bound[served.name_label])


def _lacks_members(found: Answered | Refused) -> bool:
    return isinstance(found, Refused) and found.reason is AnswerReason.MEMBERS_MISSING

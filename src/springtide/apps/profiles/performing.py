"""Performs what the controller of profiles wants done, only so much at once, each within its time.

A command that fails is returned; it is wanted again as long as it still makes sense. Nothing is done to
an object that is not the one that was meant.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, assert_never

from msgspec.structs import replace

from springtide.base.clock import Calendar
from springtide.edge.cluster import (
    PROFILES,
    AlreadyThere,
    Cluster,
    ClusterFault,
    Conflict,
    NotFound,
    Target,
    node,
)
from springtide.edge.lines import Log
from springtide.engine.profiles.events import (
    Command,
    Commands,
    Quarantine,
    Release,
    TellNode,
    WriteStatus,
)
from springtide.model.occurrence import Occurrence, Regarding
from springtide.wire.crd.writing import status_object

AT_ONCE_MAX: Final = 8
EVENTS_NAMESPACE: Final = "default"
"""Where events about objects without a namespace belong."""
_NODE_CHARS_MAX: Final = 220


class Performer:
    """Performs commands; `failed` counts those that were not."""

    def __init__(
        self, cluster: Cluster, calendar: Calendar, *, component: str, request_s: float, log: Log
    ) -> None:
        self._cluster = cluster
        self._calendar = calendar
        self._component = component
        self._request_s = request_s
        self._log = log
        self._room = asyncio.Semaphore(AT_ONCE_MAX)
        self.failed = 0

    async def perform(
        self, commands: Commands, *, while_so: Callable[[], bool]
    ) -> tuple[Command, ...]:
        """Perform these as long as that is so, and return those that were not performed."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._done(each, while_so)) for each in commands]
        outcomes = zip(commands, tasks, strict=True)
        return tuple(command for command, task in outcomes if not task.result())

    async def _done(self, command: Command, while_so: Callable[[], bool]) -> bool:
        async with self._room:
            if not while_so():
                return False
            try:
                async with asyncio.timeout(self._request_s):
                    await self._work(command)
            except Conflict:
                # It has changed, and the news of that is on its way.
                return False
            except NotFound:
                return True
            except (ClusterFault, TimeoutError) as fault:
                self._fail(command, str(fault) or "no answer in time")
                return False
            return True

    def _fail(self, command: Command, message: str) -> None:
        self.failed += 1
        self._log("command_failed", is_fault=True, command=type(command).__name__, message=message)

    def _work(self, command: Command) -> Coroutine[object, object, object]:
        match command:
            case Quarantine():
                self._log("quarantined", node=command.node, profile=command.taint.value)
                return self._cluster.taint(node(command.node, uid=command.uid), command.taint)
            case Release():
                self._log("released", node=command.node, profile=command.taint.value)
                return self._cluster.untaint(node(command.node, uid=command.uid), command.taint)
            case WriteStatus():
                target = Target(
                    resource=PROFILES,
                    name=command.profile,
                    uid=command.uid,
                    version=command.version,
                )
                return self._cluster.patch_status(target, status_object(command.status))
            case TellNode():
                self._log(
                    "node_verified" if not command.is_warning else "node_differs",
                    node=command.node,
                    profile=command.profile,
                    reason=command.reason.value,
                    message=command.message,
                )
                return self._tell(command)
            case _:
                assert_never(command)

    async def _tell(self, command: TellNode) -> None:
        now = datetime.fromtimestamp(self._calendar.unix_s(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        occurrence = Occurrence(
            name=_name(command),
            namespace=EVENTS_NAMESPACE,
            regarding=Regarding(kind="Node", name=command.node, uid=command.uid),
            reason=command.reason,
            message=command.message,
            component=self._component,
            first=now,
            last=now,
            is_warning=command.is_warning,
        )
        try:
            await self._cluster.record(occurrence)
        except AlreadyThere:
            # It happened before, nobody knows how often.
            await self._cluster.recount(replace(occurrence, count=2))


def _name(command: TellNode) -> str:
    """Return a name that the same outcome of the same node has again, whoever tells it."""
    said = "\n".join((command.uid, command.profile, command.reason, command.message))
    digest = blake2b(said.encode(), digest_size=8).hexdigest()
    return f"{command.node[:_NODE_CHARS_MAX].rstrip('.-')}.{digest}"

"""The controller of device profiles: follows them beside the nodes, and has done what is to be done.

It runs in a process that follows the nodes already and knows who leads. Profiles and nodes are followed
in any case, so that whoever begins to lead knows them; the cluster is told only while leading.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Never

from springtide.apps.profiles.performing import Performer
from springtide.base.clock import Calendar
from springtide.edge.cluster import (
    PROFILES,
    Added,
    Change,
    Cluster,
    Deleted,
    Interrupted,
    Kind,
    Skipped,
    Synced,
    Updated,
)
from springtide.edge.lines import Log
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.profiles.verification import Verification
from springtide.model.node import Node
from springtide.model.profile import StoredProfile
from springtide.wire.crd.profiles import decode_stored_profile

TICK_S: Final = 1.0
"""Changes are judged so often, and told together."""

_PROFILE: Final = Kind(PROFILES, decode_stored_profile)


class Controller:
    """Keeps the status of profiles; `may_act` says whether this process leads and knows all nodes."""

    def __init__(
        self,
        cluster: Cluster,
        families: Mapping[str, DeviceFamily],
        *,
        calendar: Calendar,
        component: str,
        request_s: float,
        log: Log,
    ) -> None:
        self.verification = Verification(families)
        self.performer = Performer(
            cluster, calendar, component=component, request_s=request_s, log=log
        )
        self.may_act: Callable[[], bool] = lambda: False
        self._cluster = cluster
        self._calendar = calendar
        self._log = log
        self._is_whole = False
        self._is_acting = False
        self._is_interrupted = False

    async def run(self) -> Never:
        """Follow the profiles and act on what is found, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._cluster.follow(_PROFILE, self._hear))
            group.create_task(self._act())
        raise AssertionError("what is followed never ends")

    def node_seen(self, node: Node) -> None:
        """Take in a node as it is now; whatever is wrong here, whoever tells of it goes on."""
        try:
            self.verification.roster.node_seen(node)
        except Exception as bug:  # noqa: BLE001 - one node is no reason to stop
            self._log("bug", is_fault=True, where="profiles", node=node.name, message=repr(bug))

    def node_gone(self, name: str) -> None:
        """Forget a node that is gone."""
        self.verification.roster.node_gone(name)

    async def _hear(self, change: Change[StoredProfile]) -> None:
        match change:
            case Added(record=profile) | Updated(record=profile):
                self.verification.roster.profile_seen(profile)
            case Deleted(key=name):
                self.verification.roster.profile_gone(name)
            case Skipped(key=key, why=why):
                self._log("skipped", is_fault=True, kind="profiles", object=key, message=why)
            case Interrupted(fault=fault):
                if not self._is_interrupted:
                    self._log("interrupted", is_fault=True, kind="profiles", message=str(fault))
                self._is_interrupted = True
            case Synced():
                self._is_whole, self._is_interrupted = True, False
            case _:
                pass

    async def _act(self) -> Never:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                await self.turn()
            except Exception as bug:  # noqa: BLE001 - the next turn may be better
                self._log("bug", is_fault=True, where="profiles", message=repr(bug))

    async def turn(self) -> None:
        """Judge what has changed, and tell the cluster; the next turn comes when that is done."""
        is_acting = self._is_whole and self.may_act()
        if is_acting != self._is_acting:
            self._is_acting = is_acting
            self.verification.lead(is_leading=is_acting)
        commands = self.verification.tick(now_s=self._calendar.unix_s())
        for failed in await self.performer.perform(commands, while_so=self.may_act):
            self.verification.failed(failed)

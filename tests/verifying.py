"""A cluster that is nothing but records, and the machine that holds its nodes against their profiles."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.families import Policies, families
from springtide.base.taints import Taint
from springtide.engine.profiles.events import (
    Command,
    Commands,
    Quarantine,
    Release,
    TellNode,
    WriteStatus,
)
from springtide.engine.profiles.verification import Verification
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.profile import ProfileStatus
from springtide.wire.crd.writing import status_object
from tests.builders import REGISTRATION, card, node
from tests.profiles import POOL, Document, as_stored, document

READY: Final = "2026-11-30T08:00:00Z"
READY_S: Final = 1_796_025_600.0
NOW_S: Final = READY_S + 60
TURNS_MAX: Final = 10


def cards(count: int = 2, **fields: Any) -> tuple[Device, ...]:
    """Return cards as the profiles of these tests promise them, unless said otherwise."""
    return tuple(
        replace(card(f"GPU-{each}"), index=each, **{"mode": "hami-core", **fields})
        for each in range(count)
    )


def a_node(
    name: str = "n1",
    devices: Sequence[Device] | None = None,
    *,
    text: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    is_ready: bool = True,
) -> Node:
    """Return a node that has been ready for a minute, with two cards unless given."""
    notes = {**(annotations or {}), **({REGISTRATION: text} if text else {})}
    made = node(
        name,
        cards=cards() if devices is None and not text else devices or (),
        labels=POOL if labels is None else labels,
        annotations=notes,
        taints=taints,
        is_ready=is_ready,
    )
    return replace(made, uid=f"uid-{name}", ready_since=READY if is_ready else "")


class World:
    """What the API server has; commands are performed at once, and told as it tells them."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.profiles: dict[str, Document] = {}
        self.generations: dict[str, int] = {}
        self.told: list[TellNode] = []
        self.machine = self.another()

    def another(self) -> Verification:
        """Return a machine that has seen all there is, and leads."""
        machine = Verification(families(None, Policies()))
        for each in self.profiles.values():
            machine.roster.profile_seen(as_stored(each, generation=self._generation(each)))
        for node_seen in self.nodes.values():
            machine.roster.node_seen(node_seen)
        machine.lead(is_leading=True)
        return machine

    def put(self, *nodes: Node) -> None:
        """Let nodes be so."""
        for each in nodes:
            self.nodes[each.name] = each
            self.machine.roster.node_seen(each)

    def drop(self, name: str) -> None:
        """Let a node be gone."""
        del self.nodes[name]
        self.machine.roster.node_gone(name)

    def promise(self, name: str = "a10", **spec: Any) -> None:
        """Let a profile say this."""
        made = document(name, **spec)
        before = self.profiles.get(name)
        if before is not None and "status" in before:
            made["status"] = before["status"]
        self.generations[name] = self.generations.get(name, 0) + 1
        self.profiles[name] = made
        self.show(name)

    def withdraw(self, name: str = "a10") -> None:
        """Let a profile be gone."""
        del self.profiles[name]
        self.machine.roster.profile_gone(name)

    def settle(self, *, now_s: float = NOW_S) -> Commands:
        """Let time pass until nothing is wanted any more, and return all that was."""
        asked: list[Command] = []
        for turn in range(TURNS_MAX):
            commands = self.machine.tick(now_s=now_s + turn * 10)
            if not commands and turn:
                return tuple(asked)
            for each in commands:
                self.perform(each)
            asked += commands
        raise AssertionError(f"it never comes to rest: {asked}")

    def status(self, name: str = "a10") -> ProfileStatus:
        """Return what is said on a profile."""
        return as_stored(self.profiles[name], generation=self.generations[name]).status

    def said(self, name: str = "a10") -> dict[str, tuple[str, str]]:
        """Return the conditions of a profile: status and reason by type."""
        return {each.type: (each.status, each.reason) for each in self.status(name).conditions}

    def tainted(self) -> list[str]:
        """Return the nodes that have any taint."""
        return sorted(name for name, each in self.nodes.items() if each.taints)

    def events(self) -> list[tuple[str, str]]:
        """Return what was told of nodes so far: names and reasons."""
        return [(each.node, each.reason.value) for each in self.told]

    def perform(self, command: Command) -> None:
        """Let a command be performed."""
        match command:
            case Quarantine(node=name, taint=taint):
                self.put(replace(self.nodes[name], taints=(*self.nodes[name].taints, taint)))
            case Release(node=name, taint=taint):
                left = tuple(each for each in self.nodes[name].taints if each != taint)
                self.put(replace(self.nodes[name], taints=left))
            case TellNode():
                self.told.append(command)
            case WriteStatus(profile=name, status=status):
                merged = {k: v for k, v in status_object(status).items() if v is not None}
                self.profiles[name]["status"] = msgspec.json.decode(msgspec.json.encode(merged))
                self.show(name)

    def show(self, name: str) -> None:
        """Let a profile be told as it stands."""
        made = self.profiles[name]
        self.machine.roster.profile_seen(as_stored(made, generation=self._generation(made)))

    def _generation(self, made: Document) -> int:
        return self.generations[made["metadata"]["name"]]

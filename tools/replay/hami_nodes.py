"""The nodes of a replayed scenario: as they stand, and as HAMi had registered them.

Which nodes HAMi holds, and when it reads one again, is taken from the recording; what it reads then
has to be what we read.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import structs

from springtide.model.device import Inventory
from springtide.model.node import Node
from springtide.model.refusal import Refusal
from springtide.wire.k8s import schema
from springtide.wire.k8s.nodes import to_node
from springtide.wire.k8s.parts import Parts
from tools.replay.hami_forms import fingerprint, recorded_form
from tools.replay.hami_kinds import Json, Kind
from tools.replay.hami_report import Report
from tools.replay.hami_state import State

Expect = Callable[[str, object, object], None]

PARTS: Final = (
    ("annotations", "metadata"),
    ("labels", "metadata"),
    ("capacity", "status"),
    ("allocatable", "status"),
)
"""What a step may change of a node, and where it stands."""


class Nodes:
    """The nodes of one scenario."""

    def __init__(
        self, kinds: Sequence[Kind], state: State, *, flags: Json, report: Report, expect: Expect
    ) -> None:
        self.raw: dict[str, dict[str, Any]] = {}
        self._kinds = kinds
        self._state = state
        self._flags = flags
        self._report = report
        self._expect = expect
        self._parts = Parts()

    def add(self, node: Json) -> str:
        """Take a node and return its name."""
        name: str = node["metadata"]["name"]
        self.raw[name] = json.loads(json.dumps(node))
        return name

    def step(self, step: Json, outcome: Json) -> None:
        """Perform a step that changes a node, or none, and read what HAMi reads then."""
        refreshed: set[str] = set()
        match step["do"]:
            case "addNode":
                refreshed = {self.add(step["node"])}
            case "deleteNode":
                del self.raw[step["node"]]
                self._state.registered.pop(step["node"], None)
            case "updateNode":
                refreshed = self._update(step)
            case _:
                pass
        self.register(outcome["devices"], refreshed=refreshed)

    def _update(self, step: Json) -> set[str]:
        node = self.raw[step["node"]]
        before = [fingerprint(node, kind) for kind in self._kinds]
        for part, home in PARTS:
            target = node[home].setdefault(part, {})
            for key, value in step.get(part, {}).items():
                if value is None:
                    target.pop(key, None)
                else:
                    target[key] = value
        if [fingerprint(node, kind) for kind in self._kinds] != before or self._is_reported(step):
            return {step["node"]}
        if any(kind.at_once in step.get("annotations", {}) for kind in self._kinds):
            self._report.skipped["cordon at once"] += 1
        return set()

    def _is_reported(self, step: Json) -> bool:
        notes = step.get("annotations", {})
        return any(
            "Reported" in (notes.get(key) or "")
            for kind in self._kinds
            if kind.is_reread_on_report
            for key in kind.handshakes
        )

    # Reading

    def templates(self, nodes: Sequence[Json]) -> Iterator[tuple[str, Kind, Inventory | Refusal]]:
        """Yield what each of these node objects registers, family by family."""
        for node in nodes:
            for kind in self._kinds:
                answer = kind.family.inventory(self.read(node))
                if answer is not None:
                    yield node["metadata"]["name"], kind, answer

    def register(self, devices: Json, *, refreshed: set[str]) -> None:
        """Take over which nodes HAMi holds, and check that we read the same of them."""
        ours = {word for kind in self._kinds for word in kind.registers}
        self._state.foreign = {name for name, held in devices.items() if not held.keys() <= ours}
        for name in self.raw:
            for kind in self._kinds:
                self._register(name, kind, devices.get(name, {}), is_refreshed=name in refreshed)
        self._state.recount()

    def _register(self, name: str, kind: Kind, held: Json, *, is_refreshed: bool) -> None:
        node = self.raw[name]
        missing = _read(
            kind, self.read(node), [word for word in kind.registers if word not in held]
        )
        if isinstance(missing, Inventory) and not self._is_live_matter(name, kind):
            self._expect(f"registration of {name}", None, _form(missing, kind))
        words = [word for word in kind.registers if word in held]
        registered = self._state.registered.setdefault(name, {})
        if words:
            recorded = [device for word in words for device in held[word]]
            read = _read(kind, self.read(node), words)
            self._take(name, kind, (recorded, read), is_refreshed=is_refreshed)
        else:
            registered.pop(kind.family.name, None)
        if not registered:
            del self._state.registered[name]

    def _take(
        self,
        name: str,
        kind: Kind,
        answers: tuple[object, Inventory | Refusal | None],
        *,
        is_refreshed: bool,
    ) -> None:
        """Take what HAMi has read and what we read; ours stands if they are the same."""
        recorded, read = answers
        known = self._state.registered[name].get(kind.family.name)
        is_known = known is not None and _form(known, kind) == recorded
        if is_known and not is_refreshed:
            return
        if isinstance(read, Inventory) and _form(read, kind) == recorded:
            self._state.registered[name][kind.family.name] = read
        elif is_known:
            self._report.skipped["register loop"] += 1
        else:
            ours = _form(read, kind) if isinstance(read, Inventory) else read
            self._expect(f"registration of {name}", recorded, ours)

    def _is_live_matter(self, name: str, kind: Kind) -> bool:
        """Return whether labels, handshakes or counts decide about registration."""
        node = self.raw[name]
        allocatable = node["status"].get("allocatable", {})
        return bool(
            self._flags.get("nodeLabelSelector")
            or not node["metadata"].get("annotations", {}).keys().isdisjoint(kind.handshakes)
            or all(allocatable.get(name, "0") == "0" for _, name in kind.registers.values())
        )

    def read(self, node: Json) -> Node:
        """Return a node object as a node."""
        return to_node(msgspec.json.decode(json.dumps(node), type=schema.Node), self._parts)


def _read(kind: Kind, node: Node, words: Sequence[str]) -> Inventory | Refusal | None:
    """Return what the node registers under these words."""
    others = {key for word, (key, _) in kind.registers.items() if word not in words}
    notes: Mapping[str, str] = {
        key: value for key, value in node.annotations.items() if key not in others
    }
    return kind.family.inventory(structs.replace(node, annotations=notes))


def _form(inventory: Inventory, kind: Kind) -> list[dict[str, Any]]:
    return recorded_form(inventory, has_mode=kind.has_mode)

"""All profiles and all nodes as they were last seen, and which node goes by which profile.

It only remembers: whatever may be another judgement now is marked, and judged when time passes. News of
nodes that are none for profiles, which is most of them, mark nothing.
"""

from collections.abc import Mapping

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.profiles.comparing import Registered
from springtide.engine.profiles.events import own_taint, quarantine_taint
from springtide.engine.profiles.judging import Judgement
from springtide.engine.profiles.matching import contradictions, fault_of, named, selecting
from springtide.model.node import Node
from springtide.model.profile import DeviceProfile, ProfileStatus, StoredProfile

Texts = tuple[str | None, ...]


class Known(msgspec.Struct):
    """One node as it was last seen, and as it was last judged by a profile."""

    node: Node
    texts: Texts = ()
    registered: Registered = {}
    selected: tuple[str, ...] = ()
    ready_since_s: float | None = None
    profile: str = ""
    judgement: Judgement | None = None
    asked_s: float = float("-inf")
    is_old_news: bool = False


class Held(msgspec.Struct):
    """One profile as it was last seen; `asked` is the status that was last asked to be written.

    It is not asked for again before `again_s`.
    """

    stored: StoredProfile
    fault: str = ""
    nodes: set[str] = msgspec.field(default_factory=set)
    asked: ProfileStatus | None = None
    asked_s: float = 0.0
    again_s: float = float("-inf")


class Roster:
    """Nodes and profiles by name; the dirty ones are to be judged, or told about, again."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._families = families
        self._names = tuple(
            name
            for family in families.values()
            for kind in family.registrations()
            for name in kind.annotations
        )
        self.nodes: dict[str, Known] = {}
        self.profiles: dict[str, Held] = {}
        self.contrary: dict[str, str] = {}
        self.dirty_nodes: set[str] = set()
        self.dirty_profiles: set[str] = set()
        self.has_begun = False
        self._is_contrary_stale = False

    def begin(self) -> None:
        """Forget all judgements: everything is to be judged anew, and what is there is old news."""
        self.has_begun = False
        for held in self.profiles.values():
            held.asked = None
            held.nodes.clear()
        for known in self.nodes.values():
            known.profile, known.judgement, known.is_old_news = "", None, True
        self.dirty_nodes.update(self.nodes)
        self.dirty_profiles.update(self.profiles)

    def profile_seen(self, stored: StoredProfile) -> None:
        """Take in a profile as it is now."""
        held = self.profiles.get(stored.name)
        if held is None or held.stored.uid != stored.uid:
            held = self.profiles[stored.name] = Held(stored=stored)
            before = None
        else:
            before = held.stored.profile
        held.stored = stored
        held.fault = fault_of(stored, self._families)
        self.dirty_profiles.add(stored.name)
        if before != stored.profile or before is None:
            self._rematch(stored.name)

    def profile_gone(self, name: str) -> None:
        """Forget a profile that is gone."""
        if self.profiles.pop(name, None) is not None:
            self._rematch(name)
            self.dirty_nodes.update(self._tainted_by(name))

    def node_seen(self, node: Node) -> None:
        """Take in a node as it is now; most news of nodes is none for profiles."""
        known = self.nodes.get(node.name)
        if known is None or known.node.uid != node.uid:
            self.node_gone(node.name)
            known = self.nodes[node.name] = Known(node=node, is_old_news=not self.has_begun)
            self._match(known)
        elif not self._is_news(known, node):
            known.node = node
            return
        known.node = node
        self._read(known)
        self.dirty_nodes.add(node.name)

    def node_gone(self, name: str) -> None:
        """Forget a node that is gone."""
        known = self.nodes.pop(name, None)
        if known is None:
            return
        self.dirty_nodes.discard(name)
        self.leave(known)
        self._is_contrary_stale |= len(known.selected) > 1

    def _is_news(self, known: Known, node: Node) -> bool:
        before = known.node
        if node.labels != before.labels or named(node) != named(before):
            self._match(msgspec.structs.replace(known, node=node), into=known)
            return True
        return (
            node.taints != before.taints
            or (node.is_ready, node.ready_since) != (before.is_ready, before.ready_since)
            or self._texts(node) != known.texts
        )

    def _texts(self, node: Node) -> Texts:
        return tuple(node.annotations.get(name) for name in self._names)

    def _read(self, known: Known) -> None:
        """Read what the node registers, unless it is what was read before."""
        texts = self._texts(known.node)
        if texts == known.texts and known.texts:
            return
        answers = ((name, each.inventory(known.node)) for name, each in self._families.items())
        known.texts = texts
        known.registered = {name: each for name, each in answers if each is not None}

    def _usable(self) -> dict[str, DeviceProfile]:
        return {
            name: held.stored.profile
            for name, held in self.profiles.items()
            if held.stored.profile is not None and not held.fault
        }

    def _rematch(self, name: str) -> None:
        """Match all nodes with one profile that is another now, or gone."""
        profile = self._usable().get(name)
        for node_name, known in self.nodes.items():
            was = name in known.selected
            is_now = profile is not None and profile.describes(known.node.labels)
            if was != is_now:
                others = {each for each in known.selected if each != name}
                known.selected = tuple(sorted({*others, name} if is_now else others))
            if was or is_now or named(known.node) == name:
                self.dirty_nodes.add(node_name)
                self._is_contrary_stale |= was or len(known.selected) > 1
        self.dirty_profiles.add(name)

    def _match(self, known: Known, *, into: Known | None = None) -> None:
        selected = selecting(self._usable(), known.node)
        self._is_contrary_stale |= max(len(selected), len(known.selected)) > 1
        (into or known).selected = selected

    def settle_contradictions(self) -> None:
        """Find out which profiles contradict each other, if that may be another than before."""
        if not self._is_contrary_stale:
            return
        self._is_contrary_stale = False
        selected = {
            name: known.selected for name, known in self.nodes.items() if len(known.selected) > 1
        }
        found = contradictions(self._usable(), selected)
        changed = found.keys() ^ self.contrary.keys()
        self.contrary = found
        self.dirty_profiles.update(self.profiles.keys() & (found.keys() | changed))
        for known in self.nodes.values():
            if changed.intersection((*known.selected, named(known.node))):
                self.dirty_nodes.add(known.node.name)

    def profile_of(self, known: Known) -> DeviceProfile | None:
        """Return the profile that the node goes by."""
        own = named(known.node)
        for name in (own,) if own else known.selected:
            held = self.profiles.get(name)
            if held is not None and not held.fault and name not in self.contrary:
                return held.stored.profile
        return None

    def is_held_back(self, node: Node) -> bool:
        """Return whether the profile that had the node tainted is there, but cannot be used now."""
        taint = own_taint(node.taints)
        return any(
            quarantine_taint(name) == taint
            and (held.fault or name in self.contrary or held.stored.profile is None)
            for name, held in self.profiles.items()
        )

    def _tainted_by(self, profile: str) -> set[str]:
        taint = quarantine_taint(profile)
        return {name for name, known in self.nodes.items() if taint in known.node.taints}

    def leave(self, known: Known, profile: str | None = None) -> None:
        """Take a node from those of a profile: the one that it goes by, unless another is named."""
        held = self.profiles.get(known.profile if profile is None else profile)
        if held is not None and known.node.name in held.nodes:
            held.nodes.discard(known.node.name)
            self.dirty_profiles.add(held.stored.name)

"""All profiles and all nodes: what is found out about them, and what the cluster is to be told.

A pure machine. What is seen is only remembered, and judged when time passes, so that many changes at once
are told once. Everything is derived anew from what is seen: who starts, or begins to lead, comes to the
same, and what the cluster says already is not said again.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.profiles.comparing import Registered
from springtide.engine.profiles.events import (
    Command,
    Commands,
    ProfileReason,
    Quarantine,
    Release,
    TellNode,
    WriteStatus,
    is_tainted,
    own_taint,
    quarantine_taint,
)
from springtide.engine.profiles.judging import (
    BAD,
    GOOD,
    NOT_AS_PROMISED,
    REASONS,
    Judgement,
    Standing,
    judged,
    unix_s,
)
from springtide.engine.profiles.matching import contradictions, fault_of, named, selecting
from springtide.engine.profiles.statuses import Member, status, unused
from springtide.model.node import Node
from springtide.model.profile import (
    DeviceProfile,
    Mismatch,
    OnMismatch,
    ProfileStatus,
    StoredProfile,
)

AGAIN_S: Final = 5.0
"""After so long something that did not come about is asked for again."""
REPEATED_S: Final = 60.0
"""After so long a status is written again that did not stay as it was written."""

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


class Verification:
    """The machine; since it began, `counted` are outcomes, and `differing` nodes that differ by field."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._families = families
        self._names = tuple(
            name
            for family in families.values()
            for kind in family.registrations()
            for name in kind.annotations
        )
        self._nodes: dict[str, Known] = {}
        self._profiles: dict[str, Held] = {}
        self._contrary: dict[str, str] = {}
        self._dirty_nodes: set[str] = set()
        self._dirty_profiles: set[str] = set()
        self._is_contrary_stale = False
        self._is_leading = False
        self._has_begun = False
        self.counted: dict[Standing, int] = dict.fromkeys(REASONS, 0)
        self.differing: dict[str, int] = {}

    # ------------------------------------------------------------------------ what is seen

    def lead(self, *, is_leading: bool) -> None:
        """Begin or stop to tell the cluster; who begins judges everything anew."""
        self._is_leading, self._has_begun = is_leading, False
        for held in self._profiles.values():
            held.asked = None
            held.nodes.clear()
        for known in self._nodes.values():
            known.profile, known.judgement, known.is_old_news = "", None, True
        self._dirty_nodes.update(self._nodes)
        self._dirty_profiles.update(self._profiles)

    def profile_seen(self, stored: StoredProfile) -> None:
        """Take in a profile as it is now."""
        held = self._profiles.get(stored.name)
        if held is None or held.stored.uid != stored.uid:
            held = self._profiles[stored.name] = Held(stored=stored)
            before = None
        else:
            before = held.stored.profile
        held.stored = stored
        held.fault = fault_of(stored, self._families)
        self._dirty_profiles.add(stored.name)
        if before != stored.profile or before is None:
            self._rematch(stored.name)

    def profile_gone(self, name: str) -> None:
        """Forget a profile that is gone."""
        if self._profiles.pop(name, None) is not None:
            self._rematch(name)
            self._dirty_nodes.update(self._tainted_by(name))

    def node_seen(self, node: Node) -> None:
        """Take in a node as it is now; most news of nodes is none for profiles."""
        known = self._nodes.get(node.name)
        if known is None or known.node.uid != node.uid:
            self.node_gone(node.name)
            known = self._nodes[node.name] = Known(node=node, is_old_news=not self._has_begun)
            self._match(known)
        elif not self._is_news(known, node):
            known.node = node
            return
        known.node = node
        self._read(known)
        self._dirty_nodes.add(node.name)

    def node_gone(self, name: str) -> None:
        """Forget a node that is gone."""
        known = self._nodes.pop(name, None)
        if known is None:
            return
        self._dirty_nodes.discard(name)
        self._leave(known)
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

    # ------------------------------------------------------------------------ who belongs to whom

    def _usable(self) -> dict[str, DeviceProfile]:
        return {
            name: held.stored.profile
            for name, held in self._profiles.items()
            if held.stored.profile is not None and not held.fault
        }

    def _rematch(self, name: str) -> None:
        """Match all nodes with one profile that is another now, or gone."""
        profile = self._usable().get(name)
        for node_name, known in self._nodes.items():
            was = name in known.selected
            is_now = profile is not None and profile.describes(known.node.labels)
            if was != is_now:
                others = {each for each in known.selected if each != name}
                known.selected = tuple(sorted({*others, name} if is_now else others))
            if was or is_now or named(known.node) == name:
                self._dirty_nodes.add(node_name)
                self._is_contrary_stale |= was or len(known.selected) > 1
        self._dirty_profiles.add(name)

    def _match(self, known: Known, *, into: Known | None = None) -> None:
        selected = selecting(self._usable(), known.node)
        self._is_contrary_stale |= max(len(selected), len(known.selected)) > 1
        (into or known).selected = selected

    def _settle_contradictions(self) -> None:
        if not self._is_contrary_stale:
            return
        self._is_contrary_stale = False
        selected = {
            name: known.selected for name, known in self._nodes.items() if len(known.selected) > 1
        }
        found = contradictions(self._usable(), selected)
        changed = found.keys() ^ self._contrary.keys()
        self._contrary = found
        self._dirty_profiles.update(self._profiles.keys() & (found.keys() | changed))
        for known in self._nodes.values():
            if changed.intersection((*known.selected, named(known.node))):
                self._dirty_nodes.add(known.node.name)

    def _profile_of(self, node: Node, selected: tuple[str, ...]) -> DeviceProfile | None:
        """Return the profile that the node goes by."""
        own = named(node)
        for name in (own,) if own else selected:
            held = self._profiles.get(name)
            if held is not None and not held.fault and name not in self._contrary:
                return held.stored.profile
        return None

    # ------------------------------------------------------------------------ what is to be done

    def tick(self, *, now_s: float) -> Commands:
        """Judge what has changed, and return what the cluster is to be told."""
        if not self._is_leading:
            return ()
        self._settle_contradictions()
        nodes, self._dirty_nodes = self._dirty_nodes | self._due(now_s), set()
        commands = [each for name in sorted(nodes) for each in self._judge(name, now_s)]
        profiles, self._dirty_profiles = self._dirty_profiles, set()
        commands += [each for name in sorted(profiles) for each in self._say(name, now_s)]
        self._has_begun = True
        return tuple(commands)

    def failed(self, command: Command) -> None:
        """Take in that a command was not performed; it is asked for again after a while."""
        match command:
            case Quarantine(node=name) | Release(node=name):
                self._dirty_nodes.add(name)
            case WriteStatus(profile=name):
                self._dirty_profiles.add(name)
                if (held := self._profiles.get(name)) is not None:
                    held.again_s = held.asked_s + AGAIN_S
            case TellNode():
                pass

    def _due(self, now_s: float) -> set[str]:
        return {
            name
            for held in self._profiles.values()
            for name in held.nodes
            if (known := self._nodes.get(name)) is not None
            and known.judgement is not None
            and known.judgement.due_s is not None
            and known.judgement.due_s <= now_s
        }

    def _judge(self, name: str, now_s: float) -> Iterator[Command]:
        known = self._nodes.get(name)
        if known is None:
            return
        self._keep_ready(known, now_s)
        profile = self._profile_of(known.node, known.selected)
        if profile is None:
            self._leave(known)
            known.profile, known.judgement, known.is_old_news = "", None, False
            if not self._is_held_back(known.node):
                yield from self._release(known, now_s)
            return
        before, was = known.judgement, known.profile
        known.profile = profile.name
        known.judgement = judged(
            profile, known.registered, ready_since_s=known.ready_since_s, now_s=now_s
        )
        if was != profile.name:
            self._leave(known, was)
        self._profiles[profile.name].nodes.add(name)
        if before != known.judgement or was != profile.name:
            self._dirty_profiles.add(profile.name)
            yield from self._told(known, profile, before if was == profile.name else None)
        known.is_old_news = False
        yield from self._tainted(known, profile, now_s)

    def _is_held_back(self, node: Node) -> bool:
        """Return whether the profile that had the node tainted is there, but cannot be used now."""
        taint = own_taint(node.taints)
        return any(
            quarantine_taint(name) == taint
            and (held.fault or name in self._contrary or held.stored.profile is None)
            for name, held in self._profiles.items()
        )

    def _tainted_by(self, profile: str) -> set[str]:
        taint = quarantine_taint(profile)
        return {name for name, known in self._nodes.items() if taint in known.node.taints}

    def _keep_ready(self, known: Known, now_s: float) -> None:
        if not known.node.is_ready:
            known.ready_since_s = None
        elif (told_s := unix_s(known.node.ready_since)) is not None:
            known.ready_since_s = told_s
        elif known.ready_since_s is None:
            known.ready_since_s = now_s

    def _leave(self, known: Known, profile: str | None = None) -> None:
        held = self._profiles.get(known.profile if profile is None else profile)
        if held is not None and known.node.name in held.nodes:
            held.nodes.discard(known.node.name)
            self._dirty_profiles.add(held.stored.name)

    def _told(
        self, known: Known, profile: DeviceProfile, before: Judgement | None
    ) -> Iterator[Command]:
        """Yield the event about an outcome that is not known to everybody yet."""
        judgement = known.judgement
        assert judgement is not None
        reason = REASONS.get(judgement.standing)
        if reason is None:
            return
        is_same = before is not None and (before.standing, before.why) == (
            judgement.standing,
            judgement.why,
        )
        if is_same or (known.is_old_news and self._is_said(known, profile.name, reason)):
            return
        self._count(judgement)
        yield TellNode(
            node=known.node.name,
            uid=known.node.uid,
            profile=profile.name,
            reason=reason,
            message=sentence(profile, judgement),
            is_warning=judgement.standing in BAD,
        )

    def _count(self, judgement: Judgement) -> None:
        self.counted[judgement.standing] += 1
        if judgement.standing is Standing.MISMATCH and judgement.comparison is not None:
            for field in {each.field for each in judgement.comparison.differences}:
                self.differing[field] = self.differing.get(field, 0) + 1

    def _is_said(self, known: Known, profile: str, reason: ProfileReason) -> bool:
        """Return whether the profile's status says so already, of a node that was there at the beginning."""
        said = self._profiles[profile].stored.status
        judgement = known.judgement
        assert judgement is not None
        if judgement.standing in GOOD:
            return said.verified_nodes > 0
        mismatches: tuple[Mismatch, ...] = said.mismatches
        return any(each.node == known.node.name and each.reason == reason for each in mismatches)

    def _tainted(self, known: Known, profile: DeviceProfile, now_s: float) -> Iterator[Command]:
        assert known.judgement is not None
        standing = known.judgement.standing
        if standing in NOT_AS_PROMISED and profile.on_mismatch is OnMismatch.QUARANTINE:
            taint = quarantine_taint(profile.name)
            if not is_tainted(known.node.taints) and self._may_ask(known, now_s):
                yield Quarantine(node=known.node.name, uid=known.node.uid, taint=taint)
        elif standing in GOOD or standing in NOT_AS_PROMISED:
            yield from self._release(known, now_s)

    def _release(self, known: Known, now_s: float) -> Iterator[Command]:
        taint = own_taint(known.node.taints)
        if taint is not None and self._may_ask(known, now_s):
            yield Release(node=known.node.name, uid=known.node.uid, taint=taint)

    def _may_ask(self, known: Known, now_s: float) -> bool:
        """Return whether the node was not asked about just now; if it was, look at it again later."""
        if now_s - known.asked_s < AGAIN_S:
            self._dirty_nodes.add(known.node.name)
            return False
        known.asked_s = now_s
        return True

    def _say(self, name: str, now_s: float) -> Iterator[Command]:
        held = self._profiles.get(name)
        if held is None:
            return
        wanted = self._status(held, now_s)
        if wanted == held.stored.status:
            return
        if _is_as_asked(wanted, held.asked) and now_s < held.again_s:
            self._dirty_profiles.add(name)
            return
        held.asked, held.asked_s, held.again_s = wanted, now_s, now_s + REPEATED_S
        stored = held.stored
        yield WriteStatus(profile=name, uid=stored.uid, version=stored.version, status=wanted)

    def _status(self, held: Held, now_s: float) -> ProfileStatus:
        stored = held.stored
        if stored.profile is None or held.fault:
            reason = (
                ProfileReason.INVALID if stored.profile is None else ProfileReason.UNKNOWN_VENDOR
            )
            return unused(stored, reason, held.fault, now_s=now_s)
        if why := self._contrary.get(stored.name):
            return unused(stored, ProfileReason.CONTRADICTED, why, now_s=now_s)
        members = [
            Member(name=each, registered=known.registered, judgement=known.judgement)
            for each in sorted(held.nodes)
            if (known := self._nodes[each]).judgement is not None
        ]
        return status(stored, stored.profile, members, now_s=now_s)

    # ------------------------------------------------------------------------ what is known

    def standings(self) -> dict[tuple[str, Standing], int]:
        """Return how many nodes of each profile stand how."""
        found: dict[tuple[str, Standing], int] = {}
        for known in self._nodes.values():
            if known.judgement is not None:
                key = (known.profile, known.judgement.standing)
                found[key] = found.get(key, 0) + 1
        return found


def sentence(profile: DeviceProfile, judgement: Judgement) -> str:
    """Return what is told of a node."""
    why = f"{judgement.why[:1].upper()}{judgement.why[1:]}"
    match judgement.standing:
        case Standing.VERIFIED:
            return f"The node has registered what the device profile {profile.name} promises."
        case Standing.EXCEEDS:
            return f"{why}: more than the device profile {profile.name} promises."
        case Standing.TIMED_OUT:
            return (
                f"{why}, though the device profile {profile.name} promises them. "
                "Check its device plugin."
            )
        case _:
            return f"{why}. {_consequence(profile)}"


def _consequence(profile: DeviceProfile) -> str:
    match profile.on_mismatch:
        case OnMismatch.QUARANTINE:
            return (
                f"The device profile {profile.name} has the node tainted until both agree: "
                "correct the node or the profile."
            )
        case OnMismatch.REPORT:
            return f"The device profile {profile.name} only reports it: correct it or the node."
        case OnMismatch.ADOPT:
            return f"The device profile {profile.name} adopts what its nodes agree on."


def _is_as_asked(wanted: ProfileStatus, asked: ProfileStatus | None) -> bool:
    """Return whether this was asked for already, but for the time of day."""
    return asked is not None and _timeless(wanted) == _timeless(asked)


def _timeless(each: ProfileStatus) -> ProfileStatus:
    return replace(each, conditions=tuple(replace(one, changed="") for one in each.conditions))

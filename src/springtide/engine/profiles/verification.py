"""All profiles and all nodes: what is found out about them, and what the cluster is to be told.

A pure machine. What is seen is only remembered, and judged when time passes, so that many changes at once
are told once. Everything is derived anew from what is seen: who starts, or begins to lead, comes to the
same, and what the cluster says already is not said again.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from springtide.engine.placement.family import DeviceFamily
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
from springtide.engine.profiles.roster import Held, Known, Roster
from springtide.engine.profiles.statuses import Member, status, unused
from springtide.engine.profiles.wording import sentence
from springtide.model.profile import (
    DeviceProfile,
    Mismatch,
    OnMismatch,
    ProfileStatus,
)

AGAIN_S: Final = 5.0
"""After so long something that did not come about is asked for again."""
REPEATED_S: Final = 60.0
"""After so long a status is written again that did not stay as it was written."""


class Verification:
    """The machine; since it began, `counted` are outcomes, and `differing` nodes that differ by field."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self.roster = Roster(families)
        self._is_leading = False
        self.counted: dict[Standing, int] = dict.fromkeys(REASONS, 0)
        self.differing: dict[str, int] = {}

    def lead(self, *, is_leading: bool) -> None:
        """Begin or stop to tell the cluster; who begins judges everything anew."""
        self._is_leading = is_leading
        self.roster.begin()

    def tick(self, *, now_s: float) -> Commands:
        """Judge what has changed, and return what the cluster is to be told."""
        if not self._is_leading:
            return ()
        self.roster.settle_contradictions()
        nodes, self.roster.dirty_nodes = self.roster.dirty_nodes | self._due(now_s), set()
        commands = [each for name in sorted(nodes) for each in self._judge(name, now_s)]
        profiles, self.roster.dirty_profiles = self.roster.dirty_profiles, set()
        commands += [each for name in sorted(profiles) for each in self._say(name, now_s)]
        self.roster.has_begun = True
        return tuple(commands)

    def failed(self, command: Command) -> None:
        """Take in that a command was not performed; it is asked for again after a while."""
        match command:
            case Quarantine(node=name) | Release(node=name):
                self.roster.dirty_nodes.add(name)
            case WriteStatus(profile=name):
                self.roster.dirty_profiles.add(name)
                if (held := self.roster.profiles.get(name)) is not None:
                    held.again_s = held.asked_s + AGAIN_S
            case TellNode():
                pass

    def _due(self, now_s: float) -> set[str]:
        return {
            name
            for held in self.roster.profiles.values()
            for name in held.nodes
            if (known := self.roster.nodes.get(name)) is not None
            and known.judgement is not None
            and known.judgement.due_s is not None
            and known.judgement.due_s <= now_s
        }

    def _judge(self, name: str, now_s: float) -> Iterator[Command]:
        known = self.roster.nodes.get(name)
        if known is None:
            return
        self._keep_ready(known, now_s)
        profile = self.roster.profile_of(known)
        if profile is None:
            self.roster.leave(known)
            known.profile, known.judgement, known.is_old_news = "", None, False
            if not self.roster.is_held_back(known.node):
                yield from self._release(known, now_s)
            return
        before, was = known.judgement, known.profile
        known.profile = profile.name
        known.judgement = judged(
            profile, known.registered, ready_since_s=known.ready_since_s, now_s=now_s
        )
        if was != profile.name:
            self.roster.leave(known, was)
        self.roster.profiles[profile.name].nodes.add(name)
        if before != known.judgement or was != profile.name:
            self.roster.dirty_profiles.add(profile.name)
            yield from self._told(known, profile, before if was == profile.name else None)
        known.is_old_news = False
        yield from self._tainted(known, profile, now_s)

    def _keep_ready(self, known: Known, now_s: float) -> None:
        if not known.node.is_ready:
            known.ready_since_s = None
        elif (told_s := unix_s(known.node.ready_since)) is not None:
            known.ready_since_s = told_s
        elif known.ready_since_s is None:
            known.ready_since_s = now_s

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
        said = self.roster.profiles[profile].stored.status
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
            self.roster.dirty_nodes.add(known.node.name)
            return False
        known.asked_s = now_s
        return True

    def _say(self, name: str, now_s: float) -> Iterator[Command]:
        held = self.roster.profiles.get(name)
        if held is None:
            return
        wanted = self._status(held, now_s)
        if wanted == held.stored.status:
            return
        if _is_as_asked(wanted, held.asked) and now_s < held.again_s:
            self.roster.dirty_profiles.add(name)
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
        if why := self.roster.contrary.get(stored.name):
            return unused(stored, ProfileReason.CONTRADICTED, why, now_s=now_s)
        members = [
            Member(name=each, registered=known.registered, judgement=known.judgement)
            for each in sorted(held.nodes)
            if (known := self.roster.nodes[each]).judgement is not None
        ]
        return status(stored, stored.profile, members, now_s=now_s)

    def standings(self) -> dict[tuple[str, Standing], int]:
        """Return how many nodes of each profile stand how."""
        found: dict[tuple[str, Standing], int] = {}
        for known in self.roster.nodes.values():
            if known.judgement is not None:
                key = (known.profile, known.judgement.standing)
                found[key] = found.get(key, 0) + 1
        return found


def _is_as_asked(wanted: ProfileStatus, asked: ProfileStatus | None) -> bool:
    """Return whether this was asked for already, but for the time of day."""
    return asked is not None and _timeless(wanted) == _timeless(asked)


def _timeless(each: ProfileStatus) -> ProfileStatus:
    return replace(each, conditions=tuple(replace(one, changed="") for one in each.conditions))

"""All members of a workload, as processes that are started together and end with a block."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Final

from tests.e2e.applications import application
from tests.e2e.meeting import Meeting
from tests.e2e.memberprocess import LIMIT_S, Member, Object, document
from tests.e2e.waiting import eventually

LEASE_S: Final = 3.0
FAIL_OVER_S: Final = LEASE_S + 5.0
ROUND_S: Final = 3.0
STATUS_AGE_S: Final = 6.0
DATA_AGE_S: Final = 4.0
STEADY: Final = 70
"""So many rooms of each member need as many members as there are; they need one less from 60 down."""
CALM: Final = 20


class Membership:
    """All members of a workload."""

    def __init__(self, meeting: Meeting, name: str, members: list[Member]) -> None:
        self.meeting = meeting
        self.name = name
        self.members = members
        self._begun = 0
        self.key = f"/atapp/hpa/default/StatefulSet/apps/v1/{name}"

    def __getitem__(self, number: int) -> Member:
        """Return the member of a number, from one."""
        return self.members[number - 1]

    def begin(self) -> None:
        """Start all, and wait for them."""
        self.start()
        self.wait()

    def start(self) -> None:
        """Start all."""
        for each in self.members:
            each.start()

    def wait(self) -> None:
        """Wait until all serve, a number is decided, and the load counts."""
        self.until(is_serving)
        self.until_expected(len(self.members))
        self.until(lambda seen: not seen["inputs"][0]["downUnknown"], self.leader())
        self._begun = len(self.meeting.history(self.key)) - 1

    def leader(self, *, but: Member | None = None) -> Member:
        """Wait for one that decides, and return it."""

        def look() -> list[Member]:
            others = [each for each in self.members if each is not but and each.is_running]
            return [each for each in others if each.status().get("isLeader")]

        return eventually(look, lambda found: len(found) == 1, limit_s=LIMIT_S)[0]

    def load(self, rooms: int) -> None:
        """Let every application hold so many rooms."""
        for each in self.members:
            each.application.rooms = rooms

    def until(
        self, is_so: Callable[[Object], bool], *members: Member, limit_s: float = LIMIT_S
    ) -> None:
        """Wait until something can be seen at these members, at all of them if none is named."""
        for each in members or self.members:
            eventually(each.status, lambda seen: bool(seen) and is_so(seen), limit_s=limit_s)

    def until_expected(self, count: int, *members: Member, limit_s: float = LIMIT_S) -> None:
        """Wait until a round to so many is over."""
        self.until(lambda seen: is_done(seen, count), *members, limit_s=limit_s)

    def history(self) -> list[Object]:
        """Return every status there was, from the one with which all had begun."""
        return self.meeting.history(self.key)[self._begun :]

    def generations(self) -> list[int]:
        """Return the generations there were, each once for as long as it stayed."""
        found = [int(each["generation"]) for each in self.history()]
        return [each for at, each in enumerate(found) if at == 0 or found[at - 1] != each]

    def records(self) -> list[int]:
        """Return the numbers that are written down to hold state."""
        kept = self.meeting.keys(f"{self.key}/.ready/")
        return sorted(int(each.rpartition("/")[2]) for each in kept)

    def order(self, replicas: int) -> None:
        """Order so many of whoever leads."""
        self.leader().ask("/v1/replicas", {"replicas": replicas, "force": True})


def is_done(seen: Object, count: int) -> bool:
    """Return whether a member knows of so many replicas, and of no round that still goes on."""
    found = seen.get("round") or {}
    return found.get("phase") == "Done" and found.get("current") == found.get("expect") == count


def is_serving(seen: Object) -> bool:
    """Return whether a member has both labels."""
    return bool(seen["isTarget"] and seen["isReady"])


def only_by_one(generations: list[int]) -> bool:
    """Return whether every generation is the one before and one more."""
    return all(after == before + 1 for before, after in pairwise(generations))


@contextmanager
def membership(
    meeting: Meeting, name: str, count: int = 3, *, begins: bool = True, parts: Object | None = None
) -> Iterator[Membership]:
    """Run so many members as long as the block; they serve, and a number is decided, unless told otherwise."""
    with ExitStack() as stack:
        members = []
        for number in range(1, count + 1):
            rooms = application(name, f"{name}-{number - 1}", rooms=STEADY)
            members.append(Member(meeting, name, number, stack.enter_context(rooms)))
        found = Membership(meeting, name, members)
        stack.callback(_end, found)
        meeting.scrape(name, [each for member in members for each in member.targets])
        for each in members:
            each.configure(document(name, parts or {}))
        if begins:
            found.begin()
        yield found
        for each in members:
            assert not each.is_running or each.logged("bug") == []


@contextmanager
def memberships(meeting: Meeting, wanted: Mapping[str, Object]) -> Iterator[dict[str, Membership]]:
    """Run several workloads side by side, each with parts of its own."""
    with ExitStack() as stack:
        found = {
            name: stack.enter_context(membership(meeting, name, begins=False, parts=parts))
            for name, parts in wanted.items()
        }
        for each in found.values():
            each.start()
        for each in found.values():
            each.wait()
        yield found


def _end(found: Membership) -> None:
    for each in found.members:
        if each.is_running:
            each.kill()
    found.meeting.forget(found.name)

"""One line a second for people, and the verdict."""

from collections.abc import Iterator, Sequence
from typing import Final

from examples.rooms.checking import Checker
from examples.rooms.state import State

HEAD: Final = "   time    round                 Target    Ready     rooms of each member"
WRONGS_MAX: Final = 10
_EVERY_ROOM: Final = 5


def headline(members: int) -> str:
    """Return what stands above the lines."""
    width = _EVERY_ROOM * members
    return f"{HEAD:<{53 + width}}requests"


def line(states: Sequence[State], checker: Checker) -> str:
    """Return one line: the round, who is Target and Ready, rooms of each, and requests."""
    leader = next((each for each in states if each.is_leader), None)
    known = leader or next(iter(states), None)
    round_ = "nobody answers"
    if known is not None:
        numbers = f"{known.current}" if known.current == known.expect else _change(known)
        who = f"led by {leader.index}" if leader is not None else "nobody leads"
        round_ = f"{numbers} {known.phase}, {who}"
    target = "".join(str(each.index % 10) for each in states if each.is_target)
    ready = "".join(str(each.index % 10) for each in states if each.is_ready)
    rooms = " ".join(f"{each.index}:{len(each.rooms)}" for each in states)
    tally = checker.tally
    return (
        f"{round_:<27} {target:<9} {ready:<9} {rooms:<40} "
        f"{tally.asked} asked, {tally.again} again, {tally.failed} failed"
    )


def _change(known: State) -> str:
    return f"{known.current} → {known.expect}"


def verdict(checker: Checker, *, moved: int, is_settled: bool) -> Iterator[str]:
    """Return what is to be said at the end."""
    tally = checker.tally
    answered = tally.at_first + tally.again
    share = 100 * answered / max(1, tally.asked)
    yield ""
    yield (
        f"{answered} of {tally.asked} requests were answered ({share:.2f} %), "
        f"{tally.again} of them after another try."
    )
    for why, count in sorted(tally.why.items()):
        yield f"  {count} were not: {why}"
    yield f"{len(checker.rooms)} rooms; at least {moved} moves."
    for words in checker.wrongs[:WRONGS_MAX]:
        yield f"  WRONG: {words}"
    if not checker.wrongs:
        yield "No room was lost, none had two owners, and no sentence that was accepted is missing."
    if not is_settled:
        yield "WRONG: the members did not settle after the end."

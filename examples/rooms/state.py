"""What a member shows of itself to whoever runs it."""

import msgspec

from examples.rooms.member import Member


class State(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of one member."""

    index: int
    name: str
    is_target: bool
    is_ready: bool
    is_leader: bool
    expected: int | None
    stateful_index: int | None
    phase: str
    generation: int
    current: int
    expect: int
    rooms: list[str]
    """Those that it accepts writes to."""
    people: int
    owned: int
    moved: int


def state_of(member: Member) -> State:
    """Return it."""
    shown, book, status = (
        member.controller.snapshot(),
        member.holding.book,
        member.controller.snapshot().status,
    )
    return State(
        index=shown.index or 0,
        name=shown.name,
        is_target=member.controller.is_target(),
        is_ready=member.controller.is_ready(),
        is_leader=member.controller.is_leader(),
        expected=shown.expected,
        stateful_index=shown.stateful_index,
        phase="" if shown.phase is None else str(shown.phase),
        generation=0 if status is None else status.generation,
        current=0 if status is None else status.current,
        expect=0 if status is None else status.expect,
        rooms=[each for each in book.rooms if book.accepts_writes(each)],
        people=book.people,
        owned=book.owned,
        moved=member.moving.moved,
    )

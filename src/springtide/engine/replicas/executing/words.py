"""The words that explain what an executor does or leaves: full sentences, for logs and for people who ask."""

from collections.abc import Sequence
from typing import Final

from springtide.engine.replicas.executing.records import Execution, Wish

_SECOND_MS: Final = 1000
LOOK_FIRST: Final = "What there is has to be seen before anything is ordered."
LOOK_AGAIN: Final = "It is time to look again."
LOOK_LATE: Final = "What was seen is older than the last order, so it is looked again."
LOOK_DONE: Final = "An order was carried out; it is looked what came of it."
NEWCOMER: Final = "A new member has not said yet whether it must serve, so none is stopped for now."
LOOK_DOUBT: Final = (
    "Nobody knows what came of an order, so it is looked before anything is repeated."
)


def outdated(generation: int, applied: int) -> str:
    """Say that a wish is too old."""
    return (
        f"Generation {generation} is older than {applied}, which was applied, and does not count. "
        "If the store of statuses was emptied, remove the file applied.json and restart."
    )


def remembered(generation: int) -> str:
    """Say that older wishes no longer count."""
    return f"Generation {generation} counts now, and no older one."


def unobserved(told: str) -> str:
    """Say that nothing is done blindly."""
    return f"It cannot be seen which members there are, so none is started or stopped: {told}"


def unknown(number: int, told: str) -> str:
    """Say that an order may have had its effect."""
    return f"Nobody knows what came of the order for {number}: {told}"


def failed(number: int, told: str) -> str:
    """Say that an order had no effect."""
    return f"The order for {number} had no effect: {told}"


def aged(age_ms: int) -> str:
    """Say that a wish has expired."""
    return f"nothing has been heard for {age_ms / _SECOND_MS:g} s"


def unwanted(wish: Wish, count: int) -> str:
    """Say why nothing follows from a wish."""
    why = wish.why or "its source does not say"
    return f"How many members are wanted is unknown ({why}), so all {count} stay and none is added."


def steady(wish: Wish, desired: int) -> str:
    """Say that all is as it should be."""
    return f"{_members(desired)} run, as wanted: {_given(wish)}."


def growing(state: Execution, due: Sequence[int]) -> str:
    """Say who is started, or why nobody is yet."""
    target = f"{_members(state.desired or 0)} are wanted ({_given(state.wish)}{_lost(state)})"
    if due:
        return f"{target} and {_members(len(state.nodes or ()))} run: {_listed(due)} started."
    return f"{target}; those missing were tried a moment ago and are tried again later."


def scaled(state: Execution, number: int, count: int) -> str:
    """Say why a number is ordered."""
    desired = _members(state.desired or 0)
    step = "" if number == state.desired else " One at a time is taken away."
    return f"{desired} are wanted ({_given(state.wish)}) and {count} run: {number} ordered.{step}"


def repeated_later(number: int, count: int) -> str:
    """Say that an order has to show its effect."""
    return f"{_members(number)} were ordered and {count} run; it is waited for the effect."


def unsure(wish: Wish) -> str:
    """Say that nobody is stopped because nobody knows who serves."""
    why = wish.why or "its source does not say"
    return f"Which members must keep serving is unknown ({why}), so none is stopped."


def unheard(spoken: int, staying: int) -> str:
    """Say that nobody is stopped because some may serve that have not said so."""
    return (
        f"Only {spoken} of {staying} members have said whether they must serve, so none is stopped."
    )


def beyond(index: int, floor: int, most: int) -> str:
    """Say that a member above the bound must stay."""
    return (
        f"Member {index} stays: members up to {floor} must keep serving, though at most {most} are "
        "allowed. Raise bounds.max, or wait until they have drained."
    )


def serving(index: int) -> str:
    """Say that the highest member must stay."""
    return f"Member {index} is too many, but it must keep serving until it has drained."


def stopping(state: Execution, index: int) -> str:
    """Say who is stopped and why."""
    given = _given(state.wish)
    return f"{_members(state.desired or 0)} are wanted ({given}): member {index} is drained and stopped."


def stop_later(index: int) -> str:
    """Say that a member has had an order only now."""
    return (
        f"Member {index} is too many, but had an order a moment ago; it is stopped a little later."
    )


def leaving(index: int, *, overdue_ms: int = 0) -> str:
    """Say that it is waited for a member to end."""
    if not overdue_ms:
        return f"Member {index} was asked to stop; it is waited until it has ended."
    waited = f"{overdue_ms / _SECOND_MS:g} s"
    return f"Member {index} was asked to stop {waited} ago and still runs. Look at it, or set forceAfter."


def forced(index: int, since_ms: int) -> str:
    """Say that a member is killed."""
    waited = f"{since_ms / _SECOND_MS:g} s"
    return (
        f"Member {index} has drained, was asked to stop {waited} ago and still runs: it is killed."
    )


def _given(wish: Wish) -> str:
    floor = "unknown" if wish.floor is None else wish.floor
    return f"expected are {wish.expect}, the highest that must serve is {floor}"


def _lost(state: Execution) -> str:
    if not state.lost:
        return ""
    numbers = ", ".join(str(index) for index in sorted(state.lost))
    return f", and of {numbers} state may be left"


def _members(count: int) -> str:
    return "1 member" if count == 1 else f"{count} members"


def _listed(indexes: Sequence[int]) -> str:
    if len(indexes) == 1:
        return f"member {indexes[0]} is"
    return f"members {', '.join(map(str, indexes[:-1]))} and {indexes[-1]} are"

"""What follows from what is wanted and what there is: start what is missing, then stop what is too much.

Nobody is stopped whose number is at most the floor, or who must keep serving, or while either is unknown. From
the highest down, one member is asked, and the next one only when it has ended.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from springtide.engine.replicas.executing import words
from springtide.engine.replicas.executing.records import (
    DOUBLINGS_MAX,
    STARTS_MAX,
    Attempt,
    Execution,
    ExecutionRules,
    Kill,
    Order,
    Phase,
    ScaleTo,
    Start,
    Stepped,
    Stop,
    StopGracefully,
    Wish,
)
from springtide.model.replicas.execution import Node, NodeState, ScaleOrder


def decide(rules: ExecutionRules, state: Execution, now_ms: int) -> Stepped:
    """Return the orders that are due, and the words for them or for doing nothing."""
    state = _aged(rules, state, now_ms)
    wish, nodes = state.wish, state.nodes or ()
    if wish.generation is None or wish.expect is None or wish.expect < 1:
        why = words.unwanted(wish, len(nodes))
        return replace(state, phase=Phase.STEADY, desired=None, why=why), ()
    desired = _desired(rules, state, wish.expect)
    state = replace(state, desired=desired)
    missing, is_beyond = _differing(rules, nodes, desired)
    if missing:
        state = replace(state, phase=Phase.GROWING)
        if rules.by_number:
            return _scaled(rules, state, desired, now_ms)
        return _grown(rules, state, missing, now_ms)
    if is_beyond:
        return _drained(rules, replace(state, phase=Phase.DRAINING), now_ms)
    return replace(state, phase=Phase.STEADY, why=words.steady(wish, desired)), ()


def _differing(
    rules: ExecutionRules, nodes: Sequence[Node], desired: int
) -> tuple[list[int], bool]:
    """Return which members are missing, and whether some are too many."""
    if rules.by_number:
        return list(range(len(nodes) + 1, desired + 1)), len(nodes) > desired
    present = {each.index for each in nodes}
    missing = [index for index in range(1, desired + 1) if index not in present]
    return missing, any(index > desired for index in present)


def _aged(rules: ExecutionRules, state: Execution, now_ms: int) -> Execution:
    """Take a wish that nobody has repeated for too long as unknown."""
    if now_ms - state.wished_ms <= rules.wish_ms_max or state.wish.generation is None:
        return state
    return replace(state, wish=Wish(why=words.aged(rules.wish_ms_max)))


def _desired(rules: ExecutionRules, state: Execution, expect: int) -> int:
    wanted = max(expect, state.wish.floor or 0, *state.lost, 0)
    return max(rules.least, min(rules.most, wanted))


def _grown(rules: ExecutionRules, state: Execution, missing: Iterable[int], now_ms: int) -> Stepped:
    due = [index for index in missing if not _waits(state, index, now_ms)][:STARTS_MAX]
    why = words.growing(state, due)
    if not due:
        return replace(state, why=why), ()
    return _ordered(rules, state, [Start(index, why) for index in due], now_ms)


def _scaled(rules: ExecutionRules, state: Execution, number: int, now_ms: int) -> Stepped:
    wish, count = state.wish, len(state.nodes or ())
    if _waits(state, number, now_ms):
        return replace(state, why=words.repeated_later(number, count)), ()
    protected = (wish.ready or frozenset()) | set(range(1, min(wish.floor or 0, count) + 1))
    order = ScaleOrder(
        generation=state.generation, desired=number, current=count, keep=tuple(sorted(protected))
    )
    why = words.scaled(state, number, count)
    return _ordered(rules, state, [ScaleTo(order, why)], now_ms)


def _drained(rules: ExecutionRules, state: Execution, now_ms: int) -> Stepped:
    nodes = state.nodes or ()
    node = nodes[-1]
    spared = _spared(rules, state, node, nodes)
    if spared:
        return replace(state, why=spared), ()
    leaving = [each for each in nodes if each.state is NodeState.STOPPING]
    if rules.by_number:
        if leaving:
            return replace(state, why=words.leaving(leaving[0].index)), ()
        return _scaled(rules, state, len(nodes) - 1, now_ms)
    others = [each for each in state.stops if each.index != node.index]
    others_leaving = [each for each in leaving if each.index != node.index]
    if others or others_leaving:
        index = (others or others_leaving)[0].index
        return replace(state, why=words.leaving(index)), ()
    asked = next((each for each in state.stops if each.index == node.index), None)
    if asked is None:
        return _asked(rules, state, node.index, now_ms)
    return _awaited(rules, state, node, asked, now_ms)


def _spared(rules: ExecutionRules, state: Execution, node: Node, nodes: tuple[Node, ...]) -> str:
    """Return why the highest member may not be stopped, empty if it may."""
    wish = state.wish
    if wish.floor is None or wish.ready is None:
        return words.unsure(wish)
    if node.index <= wish.floor:
        return words.beyond(node.index, wish.floor, rules.most)
    if node.index in wish.ready:
        return words.serving(node.index)
    staying = sum(each.state is not NodeState.STOPPING for each in nodes)
    if rules.checks_members and wish.spoken is not None and wish.spoken < staying:
        return words.unheard(wish.spoken, staying)
    if state.wished_ms <= state.grown_ms:
        return words.NEWCOMER
    return ""


def _asked(rules: ExecutionRules, state: Execution, index: int, now_ms: int) -> Stepped:
    if _waits(state, index, now_ms):
        return replace(state, why=words.stop_later(index)), ()
    stop = Stop(index=index, since_ms=now_ms)
    state = replace(state, stops=(*state.stops, stop))
    order = StopGracefully(index, words.stopping(state, index))
    return _ordered(rules, state, [order], now_ms)


def _awaited(
    rules: ExecutionRules, state: Execution, node: Node, asked: Stop, now_ms: int
) -> Stepped:
    """Wait for a member that was asked; ask again if that had no effect, and kill if that is wanted."""
    since_ms, force_ms = now_ms - asked.since_ms, rules.force_after_ms
    if force_ms is not None and since_ms >= force_ms and not asked.is_forced:
        stops = tuple(
            replace(each, is_forced=True) if each is asked else each for each in state.stops
        )
        kill = Kill(node.index, words.forced(node.index, since_ms))
        return _ordered(rules, replace(state, stops=stops), [kill], now_ms)
    if node.state is not NodeState.STOPPING and not _waits(state, node.index, now_ms):
        order = StopGracefully(node.index, words.stopping(state, node.index))
        return _ordered(rules, state, [order], now_ms)
    is_overdue = since_ms >= rules.grace_ms
    return replace(state, why=words.leaving(node.index, overdue_ms=since_ms * is_overdue)), ()


def _waits(state: Execution, number: int, now_ms: int) -> bool:
    last = state.attempts.get(number)
    return last is not None and now_ms < last.again_ms


def _ordered(
    rules: ExecutionRules, state: Execution, orders: Iterable[Order], now_ms: int
) -> Stepped:
    """Give orders, and let each be given again only after a while that grows."""
    listed = tuple(orders)
    attempts = dict(state.attempts)
    for order in listed:
        number = order.order.desired if isinstance(order, ScaleTo) else order.index
        tries = min(DOUBLINGS_MAX, attempts[number].tries + 1) if number in attempts else 1
        again_ms = now_ms + rules.retry_ms * 2 ** (tries - 1)
        attempts[number] = Attempt(tries=tries, at_ms=now_ms, again_ms=again_ms)
    return (
        replace(state, attempts=attempts, awaited=frozenset(_numbers(listed)), why=listed[0].why),
        listed,
    )


def _numbers(orders: Iterable[Order]) -> Iterable[int]:
    return (each.order.desired if isinstance(each, ScaleTo) else each.index for each in orders)

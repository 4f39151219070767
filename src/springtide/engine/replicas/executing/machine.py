"""Folds events into where an executor stands: wishes, observations, and what came of orders.

A wish of an older generation than one that was taken is refused. An order whose outcome is unknown is
followed by a look, and not given again before its effect would have shown.
"""

from typing import assert_never

from msgspec.structs import replace

from springtide.engine.replicas.executing import words
from springtide.engine.replicas.executing.deciding import decide
from springtide.engine.replicas.executing.records import (
    Attempt,
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Observe,
    Observed,
    Ordered,
    Refuse,
    Remember,
    Scaled,
    Started,
    Stepped,
    Stopped,
    Tick,
    TimedOut,
    Unobserved,
    Wanted,
)
from springtide.engine.replicas.executing.seeing import seen


def step(rules: ExecutionRules, state: Execution, event: Event) -> Stepped:
    """Fold one event into where an executor stands; say what it has to do."""
    match event:
        case Wanted():
            return _wanted(state, event)
        case Observed():
            return _observed(rules, state, event)
        case Unobserved(words=told):
            state = replace(state, is_looking=False, why=words.unobserved(told))
            return state, ()
        case Started() | Stopped() | Scaled() | TimedOut() | Failed():
            return _ended(rules, state, event)
        case Tick():
            return _look(state, words.LOOK_AGAIN)
        case _:
            assert_never(event)


def _wanted(state: Execution, event: Wanted) -> Stepped:
    generation = event.wish.generation
    if generation is not None and generation < state.generation:
        refusal = Refuse(words.outdated(generation, state.generation))
        looking, commands = _look(state, words.LOOK_AGAIN)
        return looking, (refusal, *commands)
    state = replace(state, wish=event.wish, wished_ms=event.now_ms)
    if generation is None or generation == state.generation:
        return _look(state, words.LOOK_FIRST)
    looking, commands = _look(replace(state, generation=generation), words.LOOK_FIRST)
    return looking, (Remember(generation, words.remembered(generation)), *commands)


def _observed(rules: ExecutionRules, state: Execution, event: Observed) -> Stepped:
    state = replace(state, is_looking=False)
    is_stale = event.asked_ms < state.touched_ms
    if state.awaited or is_stale:
        return _look(state, words.LOOK_LATE)
    return decide(rules, seen(rules, state, event), event.now_ms)


def _ended(rules: ExecutionRules, state: Execution, event: Ordered) -> Stepped:
    """Count the outcome of an order, and look when no other is under way."""
    index = event.desired if isinstance(event, Scaled) else event.index
    state = replace(state, awaited=state.awaited - {index}, touched_ms=event.now_ms)
    match event:
        case TimedOut(words=told):
            state = _doubted(rules, state, index, event.now_ms)
            return _look(replace(state, why=words.unknown(index, told)), words.LOOK_DOUBT)
        case Failed(words=told):
            state = _undone(state, index)
            return _look(replace(state, why=words.failed(index, told)), words.LOOK_AGAIN)
        case _:
            return _look(state, words.LOOK_DONE)


def _look(state: Execution, why: str) -> Stepped:
    if state.is_looking or state.awaited:
        return state, ()
    return replace(state, is_looking=True), (Observe(why),)


def _doubted(rules: ExecutionRules, state: Execution, index: int, now_ms: int) -> Execution:
    """Try nothing again before the effect would have shown."""
    last = state.attempts.get(index)
    again_ms = max(now_ms + rules.settle_ms, 0 if last is None else last.again_ms)
    attempt = Attempt(tries=1 if last is None else last.tries, at_ms=now_ms, again_ms=again_ms)
    return replace(state, attempts={**state.attempts, index: attempt})


def _undone(state: Execution, index: int) -> Execution:
    """Forget that a member was asked to stop; one that was asked before is only not killed."""
    stops = tuple(
        replace(each, is_forced=False) if each.index == index else each
        for each in state.stops
        if each.index != index or each.is_forced
    )
    return replace(state, stops=stops)

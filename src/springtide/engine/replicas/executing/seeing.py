"""What an observation changes: who has ended, who has stayed long enough, and who is missed.

A member that ends unasked while it has to serve may have left state behind that only it can recover. So it
counts as wanted until it has been back for a while and can speak for itself.
"""

from msgspec.structs import replace

from springtide.engine.replicas.executing.records import (
    Attempt,
    Execution,
    ExecutionRules,
    Observed,
)
from springtide.model.replicas.execution import Node, NodeState


def seen(rules: ExecutionRules, state: Execution, event: Observed) -> Execution:
    """Return the state with what there is now."""
    nodes = event.observation.members
    present = {each.index: each for each in nodes}
    steady = {
        index for index, node in present.items() if _is_steady(rules, state, node, event.now_ms)
    }
    ended = {each.index for each in state.stops} - present.keys()
    lost = frozenset() if rules.by_number else (state.lost | _missed(state, present)) - steady
    return replace(
        state,
        nodes=nodes,
        grown_ms=event.now_ms if _has_grown(state, present) else state.grown_ms,
        stops=tuple(each for each in state.stops if each.index in present),
        attempts=_unsettled(rules, state, steady | ended, len(nodes)),
        lost=frozenset(index for index in lost if index <= rules.most),
    )


def _has_grown(state: Execution, present: dict[int, Node]) -> bool:
    return state.nodes is not None and bool(present.keys() - {each.index for each in state.nodes})


def _is_steady(rules: ExecutionRules, state: Execution, node: Node, now_ms: int) -> bool:
    last = state.attempts.get(node.index)
    is_new = last is not None and now_ms < last.at_ms + rules.steady_ms
    return node.state is NodeState.RUNNING and not is_new


def _missed(state: Execution, present: dict[int, Node]) -> frozenset[int]:
    """Return who has ended unasked and had to serve."""
    asked = {each.index for each in state.stops}
    return frozenset(
        each.index
        for each in state.nodes or ()
        if each.index not in present
        and each.index not in asked
        and each.state is not NodeState.STOPPING
        and each.index in (state.wish.ready or ())
    )


def _unsettled(
    rules: ExecutionRules, state: Execution, settled: set[int], count: int
) -> dict[int, Attempt]:
    if rules.by_number:
        return {number: each for number, each in state.attempts.items() if number != count}
    return {index: each for index, each in state.attempts.items() if index not in settled}

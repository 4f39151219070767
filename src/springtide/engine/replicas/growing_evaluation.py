"""One evaluation as older fleets do it: one direction after the other, each with its window.

Shrinking comes last and may undo growing. `evaluation` is what a new fleet takes.
"""

import msgspec

from springtide.engine.replicas.combination import Suggestion
from springtide.engine.replicas.evaluation import Standing
from springtide.engine.replicas.growing_windows import Growing, cleared, grow_down, grow_up
from springtide.engine.replicas.limits import stepped
from springtide.model.replicas.rules import Limits


class GrowingPair(msgspec.Struct, frozen=True, kw_only=True):
    """Both windows."""

    up: Growing = Growing()
    down: Growing = Growing()


class GrownEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The number of replicas to expect, and the windows after it."""

    replicas: int
    windows: GrowingPair


def evaluate_growing(
    suggestion: Suggestion,
    standing: Standing,
    *,
    limits: Limits,
    windows: GrowingPair,
    now_ms: int,
    calm_ms: int,
) -> GrownEvaluation:
    """Return what to expect; the running round is over at `calm_ms`."""
    raised = grow_up(
        windows.up,
        _up(suggestion, standing, limits),
        expect=standing.expect,
        now_ms=now_ms,
        calm_ms=calm_ms,
    )
    standing = msgspec.structs.replace(standing, expect=raised.replicas)
    lowered = grow_down(
        windows.down,
        _down(suggestion, standing, limits),
        expect=standing.expect,
        now_ms=now_ms,
        calm_ms=calm_ms,
    )
    pair = GrowingPair(
        up=cleared(raised.window, now_ms=now_ms, calm_ms=calm_ms),
        down=cleared(lowered.window, now_ms=now_ms, calm_ms=calm_ms),
    )
    return GrownEvaluation(replicas=lowered.replicas, windows=pair)


def _up(suggestion: Suggestion, standing: Standing, limits: Limits) -> int:
    reached = min(standing.current, standing.expect)
    asked = standing.ordered or suggestion.up
    if asked is not None and asked > reached:
        reached = stepped(asked, current=standing.current, limits=limits)
    return _within(reached, standing.floor, limits)


def _down(suggestion: Suggestion, standing: Standing, limits: Limits) -> int:
    reached = max(standing.current, standing.expect)
    asked = standing.ordered or suggestion.down
    if asked is not None and 0 < asked < reached:
        reached = stepped(asked, current=standing.current, limits=limits)
    return _within(reached, standing.floor, limits)


def _within(replicas: int, floor: int, limits: Limits) -> int:
    return min(max(replicas, floor, limits.least), limits.most)

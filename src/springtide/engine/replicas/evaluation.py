"""One evaluation: from a suggestion to the number of replicas to expect, with every stage in words.

The order is fixed: what is asked for, the step, floor and bounds, the windows, and bounds once
more. `Evaluation.stages` says what each of them did, so that the number can be told to somebody.
"""

from enum import StrEnum

import msgspec

from springtide.engine.replicas.combination import Suggestion, chosen, lifted
from springtide.engine.replicas.limits import bounded, stepped
from springtide.engine.replicas.windows import Windows, calm
from springtide.model.replicas.rules import Limits


class Stage(StrEnum):
    """What a number goes through, in this order."""

    DEMAND = "Demand"
    STEP = "Step"
    BOUNDS = "Bounds"
    WINDOWS = "Windows"


class Passed(msgspec.Struct, frozen=True):
    """What one stage made of a number, and why."""

    stage: Stage
    replicas: int
    words: str


class Standing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What holds when an evaluation begins: what is expected, what runs, and what must stay."""

    expect: int
    current: int
    floor: int = 0
    ordered: int | None = None
    is_forced: bool = False


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The number of replicas to expect, how it came about, and the windows after it."""

    replicas: int
    raw: int
    stages: tuple[Passed, ...]
    windows: Windows

    @property
    def why(self) -> str:
        """Return every stage as one text."""
        return " ".join(each.words for each in self.stages)


def evaluate(
    suggestion: Suggestion, standing: Standing, *, limits: Limits, windows: Windows, now_ms: int
) -> Evaluation:
    """Return what to expect from now on, in Kubernetes' way of calming."""
    demand = _demand(lifted(suggestion), standing)
    step = _step(demand.replicas, standing, limits)
    bounds = _bounds(step.replicas, standing.floor, limits)
    calmed = calm(windows, bounds.replicas, now_ms=now_ms, expect=standing.expect)
    is_calm = standing.is_forced and standing.ordered is not None
    reached = bounds.replicas if is_calm else calmed.replicas
    kept = bounded(reached, floor=standing.floor, limits=limits)
    last = Passed(Stage.WINDOWS, kept, _words_of_windows(bounds.replicas, kept, windows))
    return Evaluation(
        replicas=kept,
        raw=bounds.replicas,
        stages=(demand, step, bounds, last),
        windows=calmed.windows,
    )


def _demand(suggestion: Suggestion, standing: Standing) -> Passed:
    if standing.ordered is not None:
        words = f"An operator ordered {standing.ordered}."
        return Passed(Stage.DEMAND, standing.ordered, words)
    replicas = chosen(suggestion, standing.expect)
    return Passed(Stage.DEMAND, replicas, _words_of_demand(suggestion, standing.expect))


def _words_of_demand(suggestion: Suggestion, expect: int) -> str:
    up, down = suggestion.up, suggestion.down
    if up is not None and up > expect:
        return f"The load needs {up}, and {expect} are expected."
    if down is None:
        return f"Nobody can tell whether fewer would do, so {expect} stay."
    if down < expect:
        return f"The load needs {down}, and {expect} are expected."
    return f"The load lies between both thresholds of {expect}, so they stay."


def _step(raw: int, standing: Standing, limits: Limits) -> Passed:
    reached = stepped(raw, current=standing.current, limits=limits)
    if reached == raw:
        return Passed(Stage.STEP, raw, "One step reaches it.")
    step = abs(reached - standing.current)
    return Passed(
        Stage.STEP, reached, f"One step is {step}, which from {standing.current} is {reached}."
    )


def _bounds(raw: int, floor: int, limits: Limits) -> Passed:
    reached = bounded(raw, floor=floor, limits=limits)
    if reached == raw:
        words = "That is within the bounds."
    elif reached < raw:
        words = f"At most {limits.most} are allowed."
    elif reached == floor:
        words = f"At least {floor} must stay, because something stands on them."
    else:
        words = f"At least {limits.least} must be."
    return Passed(Stage.BOUNDS, reached, words)


def _words_of_windows(raw: int, kept: int, windows: Windows) -> str:
    if kept == raw:
        return f"So it is {kept}."
    window_ms = windows.up_ms if raw > kept else windows.down_ms
    return f"It was not asked for through a window of {window_ms / 1000:g} s, so {kept} it is."

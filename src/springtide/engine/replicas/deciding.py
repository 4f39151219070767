"""The leader's decision as one machine: answers in, a status out, with providers asked in between.

It joins what the other modules do. Windows begin anew where a status was lost or changed by
others, and where no evaluation was made for as long as a window: silence is no demand to shrink.
Two clocks are told apart: `now_ms` counts since 1970 and times rounds, `steady_ms` never runs back
and times windows.
"""

from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas import providers, round_messages, rounds
from springtide.engine.replicas.combination import Suggestion, combine
from springtide.engine.replicas.demand import doubts, readings
from springtide.engine.replicas.evaluation import Evaluation, Standing, evaluate
from springtide.engine.replicas.fallback import filled
from springtide.engine.replicas.growing_evaluation import GrowingPair, evaluate_growing
from springtide.engine.replicas.holds import held
from springtide.engine.replicas.phases import running
from springtide.engine.replicas.policy_limits import Moment, PolicyWindows, limited
from springtide.engine.replicas.providers import AskProvider, Provider, ProviderFailed, ProviderSaid
from springtide.engine.replicas.round_messages import Decided, PrimeWindows
from springtide.engine.replicas.rounds import Course, Rounds
from springtide.engine.replicas.verdicts import Judged
from springtide.engine.replicas.windows import Windows, awake, primed
from springtide.model.replicas.knobs import Rounding, WindowMode
from springtide.model.replicas.policy import Policy


class Rulebook(msgspec.Struct, frozen=True, kw_only=True):
    """What a leader decides by."""

    policies: tuple[Policy, ...]
    course: Course
    providers: tuple[Provider, ...] = ()


class EvaluationDue(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One evaluation is due: what every policy says, and what must stay.

    A policy that is not in `judged` has no answer yet, which is an unknown. Each sentence in
    `holds` keeps the workload from shrinking, as after an outage. `are_victims_drained` counts
    where the leader says who goes first.
    """

    judged: dict[str, Judged]
    observed: int
    now_ms: int
    steady_ms: int
    cause: str
    floor: int = 0
    holds: tuple[str, ...] = ()
    are_victims_drained: bool = False


class Ordered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An operator orders a number, or takes the order back with None."""

    replicas: int | None
    cause: str
    is_forced: bool = False


class Deciding(msgspec.Struct, frozen=True, kw_only=True):
    """The windows, the rounds, and the evaluation whose providers are still being asked."""

    windows: Windows = Windows()
    growing: GrowingPair = GrowingPair()
    policies: PolicyWindows = PolicyWindows()
    own_limits: tuple[str, ...] = ()
    failures: dict[str, int] = {}
    rounds: Rounds = Rounds()
    due: EvaluationDue | None = None
    asking: providers.Asking | None = None
    ordered: int | None = None
    is_forced: bool = False


class Evaluated(msgspec.Struct, frozen=True):
    """Show how the number came about."""

    replicas: int
    suggestion: Suggestion
    why: str


Event: TypeAlias = EvaluationDue | ProviderSaid | ProviderFailed | Ordered | round_messages.Event
Command: TypeAlias = (
    AskProvider
    | Evaluated
    | round_messages.PutStatus
    | round_messages.ReadStatus
    | round_messages.Complain
)
Stepped: TypeAlias = tuple[Deciding, tuple[Command, ...]]


def step(book: Rulebook, state: Deciding, event: Event) -> Stepped:
    """Fold one event into the decision; say what is to be asked, written and shown."""
    match event:
        case EvaluationDue():
            return _begun(book, state, event)
        case ProviderSaid() | ProviderFailed():
            if state.asking is None:
                return state, ()
            asking, asked = providers.step(state.asking, event)
            return _asked(book, state, asking, asked)
        case Ordered(replicas=replicas, is_forced=is_forced):
            return replace(state, ordered=replicas, is_forced=is_forced), ()
        case _:
            return _round_stepped(book, state, event)


def _begun(book: Rulebook, state: Deciding, due: EvaluationDue) -> Stepped:
    """Join what the policies say, each within its own limits once something is expected."""
    stood = filled(book.policies, readings(book.policies, due.judged), state.failures)
    said = stood.readings
    is_truncated = book.course.knobs.rounding is Rounding.TRUNCATE
    status = state.rounds.status
    state = replace(state, due=due, own_limits=stood.words, failures=stood.failures)
    suggestion = combine(said, is_truncated=is_truncated)
    if status is not None:
        moment = Moment(
            expect=status.expect,
            current=running(status, due.now_ms, knobs=book.course.knobs),
            steady_ms=due.steady_ms,
            silence_ms=book.course.silence_ms,
        )
        found = limited(
            book.policies, said, windows=state.policies, moment=moment, is_truncated=is_truncated
        )
        suggestion = found.suggestion
        state = replace(state, policies=found.windows, own_limits=(*stood.words, *found.words))
    asking, asked = providers.begin(book.providers, suggestion)
    return _asked(book, state, asking, asked)


def _asked(
    book: Rulebook, state: Deciding, asking: providers.Asking, asked: tuple[AskProvider, ...]
) -> Stepped:
    state = replace(state, asking=asking)
    if not asking.is_done or state.due is None:
        return state, asked
    complaints = tuple(round_messages.Complain(words) for words in asking.complaints)
    due = state.due
    state = replace(state, asking=None, due=None)
    state, commands = _decided(book, state, due, asking.suggestion)
    return state, (*complaints, *commands)


def _decided(
    book: Rulebook, state: Deciding, due: EvaluationDue, suggestion: Suggestion
) -> Stepped:
    status = state.rounds.status
    expect, current, why = due.observed, due.observed, ""
    if status is not None:
        expect = status.expect
        current = running(status, due.now_ms, knobs=book.course.knobs)
        standing = Standing(
            expect=expect,
            current=current,
            floor=due.floor,
            ordered=state.ordered,
            is_forced=state.is_forced,
        )
        state, found, words = _evaluated(book, state, due, suggestion, standing)
        kept = held(found, standing, due.holds, limits=book.course.limits)
        expect = kept.replicas
        doubted = doubts(book.policies, due.judged)
        why = " ".join([*doubted, *state.own_limits, words, *kept.words])
    decided = Decided(
        replicas=expect,
        observed=due.observed,
        now_ms=due.now_ms,
        why=why,
        cause=due.cause,
        is_down_unknown=state.ordered is None and (suggestion.down is None or bool(due.holds)),
        are_victims_drained=due.are_victims_drained,
    )
    state, commands = _round_stepped(book, state, decided, steady_ms=due.steady_ms)
    return state, (Evaluated(expect, suggestion, why), *commands)


def _evaluated(
    book: Rulebook, state: Deciding, due: EvaluationDue, suggestion: Suggestion, standing: Standing
) -> tuple[Deciding, int, str]:
    limits, knobs = book.course.limits, book.course.knobs
    match knobs.window_mode:
        case WindowMode.KUBERNETES:
            windows = awake(
                state.windows,
                now_ms=due.steady_ms,
                expect=standing.expect,
                silence_ms=book.course.silence_ms,
            )
            found: Evaluation = evaluate(
                suggestion, standing, limits=limits, windows=windows, now_ms=due.steady_ms
            )
            return replace(state, windows=found.windows), found.replicas, found.why
        case WindowMode.GROW:
            status = state.rounds.status
            left_ms = max(0, status.scaling_ms - due.now_ms) if status is not None else 0
            grown = evaluate_growing(
                suggestion,
                standing,
                limits=limits,
                windows=state.growing,
                now_ms=due.steady_ms,
                calm_ms=due.steady_ms + left_ms,
            )
            words = f"The windows of older fleets let through {grown.replicas}."
            return replace(state, growing=grown.windows), grown.replicas, words
        case _:
            assert_never(knobs.window_mode)


def _round_stepped(
    book: Rulebook, state: Deciding, event: round_messages.Event, *, steady_ms: int | None = None
) -> Stepped:
    """Step the rounds; windows that are to begin anew do so at the next evaluation."""
    found, commands = rounds.step(book.course, state.rounds, event)
    state = replace(state, rounds=found)
    kept: list[Command] = []
    for command in commands:
        match command:
            case PrimeWindows(expect=expect):
                state = _reprimed(state, expect, steady_ms)
            case other:
                kept.append(other)
    return state, tuple(kept)


def _reprimed(state: Deciding, expect: int, steady_ms: int | None) -> Deciding:
    windows = replace(state.windows, asked=())
    if steady_ms is not None:
        windows = primed(windows, now_ms=steady_ms, expect=expect)
    up = replace(state.growing.up, ends_ms=0, pending=0, reached=0)
    down = replace(state.growing.down, ends_ms=0, pending=0, reached=0)
    growing = GrowingPair(up=up, down=down)
    return replace(state, windows=windows, growing=growing, policies=PolicyWindows())

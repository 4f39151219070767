"""How far one policy alone may ask for a change, before all of them are joined.

A policy's step and windows limit what it may ask for past what is expected; they never take away
what it needs to carry its load. What it asked for is kept for each direction by itself. An unknown
asks for no change, and so blocks one through a whole window of that policy.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.combination import (
    Reading,
    Suggestion,
    Wish,
    joined,
    known_down_wishes,
    may_shrink,
    up_wishes,
)
from springtide.engine.replicas.limits import stepped
from springtide.engine.replicas.windows import Calmed, Windows, awake, calm
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import Limits


class Moment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is expected and what runs now, and how long a silence is usual."""

    expect: int
    current: int
    steady_ms: int
    silence_ms: int = 0


class PolicyWindows(msgspec.Struct, frozen=True, kw_only=True):
    """What each policy that has limits asked for lately, by its name."""

    ups: dict[str, Windows] = {}
    downs: dict[str, Windows] = {}


class Limited(msgspec.Struct, frozen=True, kw_only=True):
    """What the policies may ask for together, the windows after it, and what was held back."""

    suggestion: Suggestion
    windows: PolicyWindows
    words: tuple[str, ...] = ()


class _Rule(msgspec.Struct, frozen=True):
    """What limits one policy in one direction, and what it asked for that way lately."""

    policy: str
    limits: Limits
    windows: Windows


class _Way(msgspec.Struct, frozen=True):
    """One direction: what each policy may ask for, the windows after it, and what was held back."""

    wishes: dict[str, int]
    windows: dict[str, Windows]
    words: tuple[str, ...]


def limited(
    policies: Iterable[Policy],
    readings: Iterable[Reading],
    *,
    windows: PolicyWindows,
    moment: Moment,
    is_truncated: bool = False,
) -> Limited:
    """Return what the policies ask for together, each within its own limits."""
    asking, listed = tuple(policies), tuple(readings)
    wishes = up_wishes(listed, is_truncated=is_truncated)
    up = _one_way(_up_rules(asking, windows.ups), wishes, moment)
    wishes = known_down_wishes(listed, is_truncated=is_truncated)
    down = _one_way(_down_rules(asking, windows.downs), wishes, moment)
    return Limited(
        suggestion=joined(up.wishes.values(), down.wishes.values() if may_shrink(listed) else ()),
        windows=PolicyWindows(ups=up.windows, downs=down.windows),
        words=up.words + down.words,
    )


def _up_rules(policies: tuple[Policy, ...], before: dict[str, Windows]) -> list[_Rule]:
    return [
        _Rule(
            each.name,
            Limits(step_up_max=each.step_up_max),
            replace(before.get(each.name, Windows()), up_ms=each.window_up_ms),
        )
        for each in policies
        if each.step_up_max or each.window_up_ms
    ]


def _down_rules(policies: tuple[Policy, ...], before: dict[str, Windows]) -> list[_Rule]:
    return [
        _Rule(
            each.name,
            Limits(step_down_max=each.step_down_max),
            replace(before.get(each.name, Windows()), down_ms=each.window_down_ms),
        )
        for each in policies
        if each.step_down_max or each.window_down_ms
    ]


def _one_way(rules: list[_Rule], wishes: tuple[Wish, ...], moment: Moment) -> _Way:
    """Return the wishes within the limits; zero is the unknown of older fleets' formula."""
    held = {each.policy: each.replicas for each in wishes}
    kept: dict[str, Windows] = {}
    words = []
    for rule in rules:
        wish = held.get(rule.policy) or None
        calmed = _calmed(rule, wish, moment)
        kept[rule.policy] = calmed.windows
        if wish is not None and calmed.replicas != wish:
            held[rule.policy] = calmed.replicas
            limits = f"by its own limits for {calmed.replicas} now"
            words.append(f"{rule.policy} asks for {wish}, and {limits}.")
    return _Way(held, kept, tuple(words))


def _calmed(rule: _Rule, wish: int | None, moment: Moment) -> Calmed:
    now_ms, expect = moment.steady_ms, moment.expect
    begun = awake(rule.windows, now_ms=now_ms, expect=expect, silence_ms=moment.silence_ms)
    asked = expect if wish is None else _one_step(wish, moment, rule.limits)
    return calm(begun, asked, now_ms=now_ms, expect=expect)


def _one_step(wish: int, moment: Moment, limits: Limits) -> int:
    """Return what one step reaches, on the side of the expected number that is asked for."""
    reached = stepped(wish, current=moment.current, limits=limits)
    if wish > moment.expect:
        return max(moment.expect, reached)
    return min(moment.expect, reached)

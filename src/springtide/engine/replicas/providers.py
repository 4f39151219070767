"""What an application's own providers make of a suggestion, one after the other.

A provider is asked by whoever drives this machine, so its answers are events and can be replayed.
One that fails or answers nonsense lowers nothing: what was needed to grow stays, and shrinking
becomes unknown.
"""

from typing import TypeAlias, TypeGuard, assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.combination import Suggestion


class Provider(msgspec.Struct, frozen=True):
    """One that may change a suggestion; higher priorities are asked first, equal ones by name."""

    name: str
    priority: int = 0


class AskProvider(msgspec.Struct, frozen=True):
    """Ask this provider what it makes of the suggestion."""

    name: str
    suggestion: Suggestion


class ProviderSaid(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What a provider answered, as it stands: it is judged here."""

    name: str
    up: object
    down: object
    cause: str


class ProviderFailed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A provider raised, or took too long."""

    name: str
    why: str
    cause: str


Event: TypeAlias = ProviderSaid | ProviderFailed


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Who is still to be asked, what stands so far, and what went wrong."""

    waiting: tuple[str, ...]
    suggestion: Suggestion
    complaints: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Return whether everybody was asked."""
        return not self.waiting


def begin(
    providers: tuple[Provider, ...], suggestion: Suggestion
) -> tuple[Asking, tuple[AskProvider, ...]]:
    """Return the machine before the first answer, and whom to ask."""
    ordered = sorted(providers, key=lambda each: (-each.priority, each.name))
    asking = Asking(waiting=tuple(each.name for each in ordered), suggestion=suggestion)
    return asking, _next(asking)


def step(state: Asking, event: Event) -> tuple[Asking, tuple[AskProvider, ...]]:
    """Fold one answer into the suggestion; an answer of nobody who was asked changes nothing."""
    if state.is_done or event.name != state.waiting[0]:
        return state, ()
    match event:
        case ProviderSaid(name=name, up=up, down=down):
            suggestion, complaints = _judged(state.suggestion, name, up, down)
        case ProviderFailed(name=name, why=why):
            suggestion = Suggestion(state.suggestion.up, None)
            complaints = (f"Provider {name} failed, so nothing shrinks: {why}.",)
        case _:
            assert_never(event)
    state = replace(
        state,
        waiting=state.waiting[1:],
        suggestion=suggestion,
        complaints=state.complaints + complaints,
    )
    return state, _next(state)


def _next(state: Asking) -> tuple[AskProvider, ...]:
    return (AskProvider(state.waiting[0], state.suggestion),) if state.waiting else ()


def _judged(
    before: Suggestion, name: str, up: object, down: object
) -> tuple[Suggestion, tuple[str, ...]]:
    complaints = tuple(
        f"Provider {name} answered {value!r} to {way}; a whole number from zero belongs."
        for way, value in (("grow to", up), ("shrink to", down))
        if not _is_answer(value)
    )
    up_kept = up if _is_answer(up) else before.up
    return Suggestion(up_kept, down if _is_answer(down) else None), complaints


def _is_answer(value: object) -> TypeGuard[int | None]:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

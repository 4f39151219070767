"""The application's own say in how many replicas are needed: who was added, and what they answer."""

from collections.abc import Awaitable
from typing import Protocol

import msgspec

from springtide.engine.replicas.providers import AskProvider, Provider, ProviderFailed, ProviderSaid
from springtide.replicas.asking import Callback, Failed


class ReplicaProvider(Protocol):
    """The application's own say; each method takes and returns a number, or None for unknown."""

    def up(self, replicas: int | None) -> int | Awaitable[int | None] | None:
        """Return how many are needed at least."""
        ...

    def down(self, replicas: int | None) -> int | Awaitable[int | None] | None:
        """Return how few would do."""
        ...


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A provider as the application gave it."""

    up: Callback
    down: Callback
    priority: int


class Providers:
    """All providers of one suggestion."""

    def __init__(self) -> None:
        self._given: dict[str, Given] = {}

    def add(self, name: str, provider: ReplicaProvider, *, priority: int) -> None:
        """Ask this provider, too, from the next time on."""
        self._given[name] = Given(
            up=Callback(provider.up), down=Callback(provider.down), priority=priority
        )

    def remove(self, name: str) -> None:
        """Ask it no more."""
        self._given.pop(name, None)

    @property
    def listed(self) -> tuple[Provider, ...]:
        """Return whom to ask."""
        return tuple(Provider(name, each.priority) for name, each in self._given.items())

    async def ask(self, command: AskProvider) -> ProviderSaid | ProviderFailed:
        """Return what a provider makes of a suggestion."""
        given = self._given.get(command.name)
        if given is None:
            return ProviderFailed(name=command.name, why="it was removed", cause="provider")
        up = await given.up.call(command.suggestion.up)
        down = await given.down.call(command.suggestion.down)
        for answer in (up, down):
            if isinstance(answer, Failed):
                return ProviderFailed(name=command.name, why=answer.why, cause="provider")
        return ProviderSaid(name=command.name, up=up, down=down, cause="provider")

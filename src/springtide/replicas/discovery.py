"""A discovery of the application's own: policies and providers with a suggestion of their own, and shared values.

What it suggests moves nothing by itself. Its policies are pulled only while somebody wants to know: a callback
that is active, a listener that waits for readiness, or whoever asked for the suggestion a short while ago.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from springtide.engine.replicas import providers
from springtide.engine.replicas.combination import Suggestion, combine, lifted
from springtide.engine.replicas.demand import readings
from springtide.model.replicas.knobs import Rounding
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.values import Folder, ValueKey
from springtide.replicas.asking import Callback
from springtide.replicas.context import Context
from springtide.replicas.listening import End, ValueListeners
from springtide.replicas.providing import Providers, ReplicaProvider
from springtide.replicas.pulling import PolicyPull, Pulls
from springtide.replicas.writing import Write, Writes

WANTED_INTERVALS: Final = 2
"""For so many intervals after a suggestion was asked for are policies pulled without being asked again."""
PROVIDERS_MAX: Final = 256

WatchMode: TypeAlias = Literal["off", "own", "all"]
MakePulls: TypeAlias = Callable[[], Pulls]


class Discovery:
    """One of them; the controller makes it, and calls its setup again after every reload."""

    def __init__(
        self, context: Context, folder: Folder, *, writes: Writes, make_pulls: MakePulls
    ) -> None:
        self._context = context
        self._writes = writes
        self._make_pulls = make_pulls
        self._providers = Providers()
        self._pulling = asyncio.Lock()
        self._wanted_until_ms = 0
        self._mode: WatchMode = "off"
        self.folder = folder
        self.pulls = make_pulls()
        self.listeners = ValueListeners(context)
        self.woken: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        """Return its name."""
        return self.folder.name

    # -- what a setup does

    def reset(self) -> None:
        """Drop all policies with their callbacks, and all providers."""
        self.pulls, self._providers = self._make_pulls(), Providers()

    def add_policy(self, policy: Policy) -> PolicyPull:
        """Take a policy, to subscribe to what Prometheus says of it."""
        pull = self.pulls.add(policy)
        self.woken()
        return pull

    def add_provider(self, name: str, provider: ReplicaProvider, *, priority: int = 0) -> End:
        """Let the application itself change the suggestion; higher priorities are asked first."""
        self._providers.add(name, provider, priority=priority)
        return lambda: self._providers.remove(name)

    # -- the suggestion

    @property
    def is_ready(self) -> bool:
        """Return whether every policy was answered once, and all values that are watched were told."""
        return self.pulls.is_whole and (self._mode == "off" or self.listeners.are_told)

    async def suggestion(self) -> Suggestion:
        """Return how many replicas its policies and providers ask for; None where nobody can tell."""
        settings, times = self._context.settings, self._context.times
        self._wanted_until_ms = times.steady_ms() + WANTED_INTERVALS * settings.pull.interval_ms
        await self.pull()
        policies = tuple(each.policy for each in self.pulls.pulls.values())
        is_truncated = settings.knobs.rounding is Rounding.TRUNCATE
        asked = combine(readings(policies, self.pulls.judged()), is_truncated=is_truncated)
        return lifted(await self._folded(asked))

    async def pull(self) -> None:
        """Ask for what is due and wanted, and never for the same twice at a time."""
        async with self._pulling:
            await self.pulls.pull_due(is_leader=self._is_wanted)

    def due_ms(self) -> int | None:
        """Return when somebody has to be asked next, None if nobody wants to know."""
        return self.pulls.due_ms(is_leader=self._is_wanted)

    # -- values

    def set_value(self, text: str, subkey: str = "") -> Write:
        """Begin to write a value, or to delete it where the text is empty: it is durable when `durable` says so."""
        return self._writes.start(ValueKey(self.folder, subkey), text)

    def watch(self, mode: WatchMode = "all") -> None:
        """Be told of all values, of its own one alone, or of none."""
        if mode not in get_args(WatchMode):
            raise ValueError(f'"{mode}" is none of {", ".join(get_args(WatchMode))}.')
        before, self._mode = self._mode, mode
        try:
            self.woken()
        except BaseException:
            self._mode = before
            raise

    def on_changed(
        self,
        subkey: str | None,
        function: Callable[[str, str], Any],
        *,
        is_blocking: bool = False,
    ) -> End:
        """Tell a function subkey and text of what there is and what changes; an empty text is a deletion.

        None stands for all subkeys. The same function is told once, however often it is given.
        """
        if self._mode == "off":
            self.watch("all")
        end = self.listeners.add(subkey, Callback(function, is_blocking))
        self.woken()
        return end

    def on_ready(self, function: Callable[[], Any], *, is_blocking: bool = False) -> End:
        """Tell a function as soon as it is ready, and again after a reload; until then policies are pulled."""
        end = self.listeners.add_ready(Callback(function, is_blocking))
        self.woken()
        return end

    @property
    def values(self) -> dict[str, str]:
        """Return the values that are known, by subkey."""
        return dict(self.listeners.values)

    # -- for the controller

    @property
    def is_watching(self) -> bool:
        """Return whether values are to be told."""
        return self._mode != "off"

    def see(self, values: dict[str, str]) -> None:
        """Take the values of its folder, all at once."""
        own = {"": values[""]} if "" in values else {}
        self.listeners.see(own if self._mode == "own" else values)

    async def tell(self) -> None:
        """Tell whoever has not heard of the values that there are, and of readiness."""
        await self.listeners.tell()
        if self.is_ready:
            await self.listeners.tell_ready()

    def set_up(self, setup: Callable[["Discovery"], None]) -> None:
        """Have policies added anew; if that fails, those before stay."""
        kept = self.pulls, self._providers
        try:
            setup(self)
        except BaseException:
            self.pulls, self._providers = kept
            raise
        self.pulls.members = kept[0].members
        self.listeners.unready()

    @property
    def _is_wanted(self) -> bool:
        is_asked = self._context.times.steady_ms() < self._wanted_until_ms
        return is_asked or (self.listeners.awaits_ready and not self.pulls.is_whole)

    async def _folded(self, suggestion: Suggestion) -> Suggestion:
        asking, asked = providers.begin(self._providers.listed, suggestion)
        for _ in range(PROVIDERS_MAX):
            if not asked:
                break
            asking, asked = providers.step(asking, await self._providers.ask(asked[0]))
        for words in asking.complaints:
            await self._context.complain(words)
        return asking.suggestion

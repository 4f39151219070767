"""All discoveries of one controller: made, found and removed by name, pulled, written and told in one place."""

import asyncio
from collections.abc import Callable
from typing import Final, Never, TypeAlias

from springtide.model.replicas.member import Member
from springtide.model.replicas.values import CUSTOM, Folder, ValueKey, misnamed
from springtide.replicas.context import Context
from springtide.replicas.discovery import Discovery
from springtide.replicas.pulling import Metrics, Pulls
from springtide.replicas.writing import Writes

DISCOVERIES_MAX: Final = 64
LOOK_S_MAX: Final = 1.0

DiscoverySetup: TypeAlias = Callable[[Discovery], None]


class Discoveries:
    """Those that the application made."""

    def __init__(self, context: Context, metrics: Metrics, *, drawn: Callable[[], int]) -> None:
        self._context = context
        self._metrics = metrics
        self._drawn = drawn
        self._made: dict[str, tuple[Discovery, DiscoverySetup]] = {}
        self._members: tuple[Member, ...] = ()
        self._news = asyncio.Event()
        self._due = asyncio.Event()
        self.writes = Writes(context)

    def create(
        self, name: str, setup: DiscoverySetup, *, domain: str = CUSTOM, with_target: bool = True
    ) -> Discovery:
        """Make a discovery, or give the one of this name another setup and path in one step."""
        folder = Folder(name=name, domain=domain, has_target=with_target)
        why = misnamed(ValueKey(folder))
        if why:
            raise ValueError(why)
        known = self.find(name)
        if known is None and len(self._made) >= DISCOVERIES_MAX:
            raise ValueError(f"{DISCOVERIES_MAX} discoveries are the most; remove one before.")
        return self._new(folder, setup) if known is None else self._moved(known, folder, setup)

    def find(self, name: str) -> Discovery | None:
        """Return the discovery of this name."""
        found = self._made.get(name)
        return None if found is None else found[0]

    def remove(self, name: str) -> bool:
        """Drop a discovery, and return whether there was one; values that were set are still written."""
        found = self._made.pop(name, None)
        if found is None:
            return False
        found[0].woken = _sleep
        self._wake()
        return True

    async def reload(self) -> None:
        """Set all up anew; one whose setup fails goes on as it was."""
        for discovery, setup in list(self._made.values()):
            try:
                discovery.set_up(setup)
            except Exception as fault:  # noqa: BLE001 - it is the application's, and the others go on
                words = f'The setup of discovery "{discovery.name}" failed, so it stays as it was: {fault!r}.'
                await self._context.complain(words)
        self._wake()

    def see(self, values: dict[Folder, dict[str, str]]) -> None:
        """Take the values that the store told; a folder that was not read yet changes nothing."""
        for discovery, _ in self._made.values():
            told = values.get(discovery.folder)
            if told is not None and discovery.is_watching:
                discovery.see(told)
        self._news.set()

    def see_members(self, members: tuple[Member, ...]) -> None:
        """Know who should be seen in metrics."""
        self._members = members
        for discovery, _ in self._made.values():
            discovery.pulls.members = members

    async def run(self) -> Never:
        """Write, pull and tell until cancelled."""
        async with asyncio.TaskGroup() as group:
            for work in (self.writes.run, self._pull, self._tell):
                group.create_task(work())
        raise AssertionError("none of these ends")

    def close(self) -> None:
        """Let no write wait any more."""
        self.writes.close()

    def _new(self, folder: Folder, setup: DiscoverySetup) -> Discovery:
        discovery = Discovery(
            self._context, folder, writes=self.writes, make_pulls=self._make_pulls
        )
        self._made[folder.name] = discovery, setup
        discovery.woken = self._wake
        try:
            discovery.set_up(setup)
        except BaseException:
            self.remove(folder.name)
            raise
        return discovery

    def _moved(self, discovery: Discovery, folder: Folder, setup: DiscoverySetup) -> Discovery:
        """Go to another path: what is known stays until the values there are told."""
        before, discovery.folder = discovery.folder, folder
        try:
            discovery.set_up(setup)
            self._wake()
        except BaseException:
            discovery.folder = before
            self._wake()
            raise
        self._made[folder.name] = discovery, setup
        return discovery

    def _make_pulls(self) -> Pulls:
        pulls = Pulls(self._context, self._metrics, drawn=self._drawn, policies_of=lambda _: ())
        pulls.members = self._members
        return pulls

    def _wake(self) -> None:
        """Look at what is to be watched, pulled and told by now."""
        watched = {each.folder for each, _ in self._made.values() if each.is_watching}
        self._context.store.look_at(watched)
        self._news.set()
        self._due.set()

    async def _pull(self) -> Never:
        while True:
            self._due.clear()
            async with asyncio.TaskGroup() as group:
                for discovery, _ in self._made.values():
                    group.create_task(discovery.pull())
            self._news.set()
            await self._until_due()

    async def _until_due(self) -> None:
        now_ms = self._context.times.steady_ms()
        dues = (each.due_ms() for each, _ in self._made.values())
        waits_s = [max(0, each - now_ms) / 1000 for each in dues if each is not None]
        try:
            async with asyncio.timeout(min([LOOK_S_MAX, *waits_s])):
                await self._due.wait()
        except TimeoutError:
            pass

    async def _tell(self) -> Never:
        while True:
            await self._news.wait()
            self._news.clear()
            for discovery, _ in list(self._made.values()):
                await discovery.tell()


def _sleep() -> None:
    """Wake nobody: the discovery was removed."""

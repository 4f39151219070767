"""The parts of one controller, joined."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Never

from springtide.model.replicas.knobs import ElectionMode
from springtide.replicas.context import Context
from springtide.replicas.discoveries import Discoveries
from springtide.replicas.electing import Electing, FirstInOrder
from springtide.replicas.evaluating import Evaluating
from springtide.replicas.following import Following
from springtide.replicas.labelling import Labelling
from springtide.replicas.leading import Leading
from springtide.replicas.numbering import Numbering
from springtide.replicas.performing import Performing
from springtide.replicas.pulling import Metrics, Pulls
from springtide.replicas.showing import Showing

AGAIN_S_MIN: Final = 1.0
AGAIN_S_MAX: Final = 30.0


class Parts:
    """What follows the store, keeps the labels, stands for election, pulls and leads."""

    def __init__(
        self, context: Context, metrics: Metrics, *, drawn_permille: Callable[[], int]
    ) -> None:
        self._context = context
        is_ordered = context.settings.knobs.election is ElectionMode.DETERMINISTIC
        order = FirstInOrder(is_in_use=is_ordered)
        self.pulls = Pulls(context, metrics, drawn=drawn_permille)
        self.labelling = Labelling(context)
        self.performing = Performing(context)
        self.evaluating = Evaluating(
            context, pulls=self.pulls, labelling=self.labelling, performing=self.performing
        )
        self.leading = Leading(
            context, self.pulls, performing=self.performing, evaluating=self.evaluating
        )
        self.electing = Electing(context, order if is_ordered else context.store, self.leading)
        self.leading.electing = self.electing
        self.numbering = Numbering(context, self.labelling)
        self.discoveries = Discoveries(context, metrics, drawn=drawn_permille)
        self.following = Following(
            context,
            labelling=self.labelling,
            leading=self.leading,
            electing=self.electing,
            pulls=self.pulls,
            order=order,
            recovering=self.evaluating.recovering,
            numbering=self.numbering,
            discoveries=self.discoveries,
        )
        self.showing = Showing(
            context,
            labelling=self.labelling,
            leading=self.leading,
            following=self.following,
            pulls=self.pulls,
            performing=self.performing,
            coordinating=self.evaluating.coordinating,
        )

    async def run(self) -> None:
        """Go on until cancelled."""
        works = {
            "store": self.following.follow,
            "following": self.following.run,
            "labels": self.labelling.run,
            "election": self.electing.run,
            "leading": self.leading.run,
            "numbering": self.numbering.run,
            "discoveries": self.discoveries.run,
        }
        async with asyncio.TaskGroup() as group:
            for name, work in works.items():
                group.create_task(self._kept(name, work))

    async def _kept(self, name: str, work: Callable[[], Awaitable[Never]]) -> Never:
        """Keep one part going: a bug in it is told, and what it knew before is known after it."""
        wait_s = AGAIN_S_MIN
        while True:
            try:
                await work()
            except Exception as bug:  # noqa: BLE001 - the other parts still protect what is held
                self._context.log("bug", is_fault=True, where=name, message=repr(bug))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, AGAIN_S_MAX)

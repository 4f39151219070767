"""The parts of one controller, joined."""

import asyncio
from collections.abc import Callable

from springtide.model.replicas.knobs import ElectionMode
from springtide.replicas.context import Context
from springtide.replicas.electing import Electing, FirstInOrder
from springtide.replicas.evaluating import Evaluating
from springtide.replicas.following import Following
from springtide.replicas.labelling import Labelling
from springtide.replicas.leading import Leading
from springtide.replicas.performing import Performing
from springtide.replicas.pulling import Metrics, Pulls
from springtide.replicas.showing import Showing


class Parts:
    """What follows the store, keeps the labels, stands for election, pulls and leads."""

    def __init__(
        self, context: Context, metrics: Metrics, *, drawn_permille: Callable[[], int]
    ) -> None:
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
        self.following = Following(
            context,
            labelling=self.labelling,
            leading=self.leading,
            electing=self.electing,
            pulls=self.pulls,
            order=order,
            recovering=self.evaluating.recovering,
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
        async with asyncio.TaskGroup() as group:
            for work in (
                self.following.follow(),
                self.following.run(),
                self.labelling.run(),
                self.electing.run(),
                self.leading.run(),
            ):
                group.create_task(work)

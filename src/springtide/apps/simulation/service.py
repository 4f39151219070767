"""The service in its lanes: filter calls, sessions and estimates, each on a thread of its own.

Each lane has rules of its own, because what they remember belongs to one thread. New profiles are put into
the queue of every lane, so that none of them changes in the middle of a call; sessions that are open keep
to what they were opened with.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from springtide.apps.planner.families import DeviceConfig, Policies
from springtide.apps.sessions import Reply, Rules, Service, rules
from springtide.apps.simulation.lanes import Lane
from springtide.base.clock import Clock
from springtide.engine.simulation.bounds import Bounds
from springtide.model.profile import DeviceProfile
from springtide.wire.extender.walking import Buffer

T = TypeVar("T")

MakeRules = Callable[[tuple[DeviceProfile, ...]], Rules]
"""Sets up what a lane goes by."""


def rule_maker(
    config: DeviceConfig | None,
    policies: Policies,
    *,
    node_selector: Mapping[str, str],
    bounds: Bounds,
) -> MakeRules:
    """Return what makes rules from profiles; rules that cannot be raise InvalidConfig when made."""
    return lambda profiles: rules(
        config, policies, profiles=profiles, node_selector=node_selector, bounds=bounds
    )


class _Served:
    """A lane with the service that belongs to it."""

    def __init__(self, name: str, make: MakeRules, clock: Clock, waiting_max: int) -> None:
        self.lane = Lane(name, waiting_max=waiting_max)
        self.service = Service(make(()), clock)

    async def learn(self, make: MakeRules, profiles: tuple[DeviceProfile, ...]) -> None:
        """Go by these profiles from the next call on."""

        def learnt() -> None:
            self.service.rules = make(profiles)

        await self.lane.run(learnt, is_own=True)


class Lanes:
    """The three lanes."""

    def __init__(self, make: MakeRules, clock: Clock, *, waiting_max: int) -> None:
        self._make = make
        self._filter = _Served("filter", make, clock, waiting_max)
        self._sessions = _Served("sessions", make, clock, waiting_max)
        self._estimate = _Served("estimate", make, clock, waiting_max)
        self.profiles: tuple[DeviceProfile, ...] = ()
        self.sessions = self._sessions.service.sessions

    async def filter(self, body: Buffer, *, keeps_dynamic: bool) -> Reply:
        """Answer a filter call."""
        service = self._filter.service

        def answered() -> Reply:
            answer = service.filter(body, keeps_dynamic=keeps_dynamic)
            return Reply(body=answer.body, outcome=answer.outcome, tally=answer.tally)

        return await self._filter.lane.run(answered)

    async def session(self, work: Callable[[Service], Reply]) -> Reply:
        """Answer a call about sessions."""
        service = self._sessions.service
        return await self._sessions.lane.run(lambda: work(service))

    async def estimate(self, body: Buffer) -> Reply:
        """Answer an estimate."""
        service = self._estimate.service
        return await self._estimate.lane.run(lambda: service.estimate(body))

    async def learn(self, profiles: tuple[DeviceProfile, ...]) -> None:
        """Go by these profiles."""
        async with asyncio.TaskGroup() as group:
            for each in self._all:
                group.create_task(each.learn(self._make, profiles))
        self.profiles = self._sessions.service.rules.profiles

    async def expire(self, now_s: float) -> None:
        """End the sessions whose lease has run out, though nobody asks for any."""
        await self._sessions.lane.run(lambda: self.sessions.expire(now_s), is_own=True)

    def lane(self, name: str) -> Lane:
        """Return a lane by its name."""
        return next(each.lane for each in self._all if each.lane.name == name)

    def waiting(self) -> dict[str, int]:
        """Return how many calls are under way in each lane."""
        return {each.lane.name: each.lane.under_way for each in self._all}

    def end(self) -> None:
        """Begin nothing more."""
        for each in self._all:
            each.lane.end()

    @property
    def _all(self) -> tuple[_Served, ...]:
        return self._filter, self._sessions, self._estimate

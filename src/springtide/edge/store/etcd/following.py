"""Follows the keys of a workload: reads what is new, watches from there, and reads again now and then.

A stream that breaks is begun again after what is known, so that nothing is lost and nothing comes twice. Each
read tells also whether etcd lost what it had: then its revision is smaller than one that was seen.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Never

from springtide.base.clock import Rng
from springtide.edge.store.errors import StoreFault
from springtide.edge.store.etcd.access import Pace
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.membership import Membership
from springtide.edge.store.etcd.mirror import Mirror, Reading
from springtide.edge.store.etcd.shapes import Header, TxnAnswer, Watched
from springtide.edge.store.etcd.spans import FIRST_WATCH, reading
from springtide.edge.store.etcd.telling import Teller
from springtide.edge.store.etcd.watching import Compacted, Dropped, watched
from springtide.edge.store.looking import Looking
from springtide.edge.store.told import ABSENT
from springtide.model.replicas.values import Folder

TXN: Final = "/v3/kv/txn"
_DOUBLINGS_MAX: Final = 10
_JITTER_STEPS: Final = 1000


class Following:
    """One follower, from its first read until it is cancelled."""

    def __init__(
        self,
        gateway: Gateway,
        *,
        mirror: Mirror,
        teller: Teller,
        membership: Membership,
        pace: Pace,
        rng: Rng,
        looking: Looking,
        key_of: Callable[[Folder], str],
    ) -> None:
        self._gateway = gateway
        self._looking = looking
        self._key_of = key_of
        self._mirror = mirror
        self._teller = teller
        self._membership = membership
        self._pace = pace
        self._rng = rng
        self._known = Header()
        self._owed = ABSENT
        self._watched_to = ABSENT
        self._tries = 0

    async def run(self) -> Never:
        """Tell what there is and what changes."""
        while True:
            looked_at = self._looking.folders
            self._mirror.look_at({each: self._key_of(each) for each in sorted(looked_at)})
            try:
                await self._catch_up()
            except StoreFault as fault:
                self._teller.away(str(fault))
            else:
                await self._session_from(asyncio.get_running_loop().time(), looked_at)
            await self._wait()

    async def _catch_up(self) -> None:
        """Read what is new, or all if something was deleted unseen."""
        if not await self._read():
            self._mirror.forget()
            await self._read()
        self._teller.confirmed()

    async def _session_from(self, began_s: float, looked_at: frozenset[Folder]) -> None:
        await self._session(looked_at)
        if asyncio.get_running_loop().time() - began_s > self._pace.again_s_max:
            # It went well for long enough, so that the next try may come soon.
            self._tries = 0

    async def _session(self, looked_at: frozenset[Folder]) -> None:
        """Watch, confirm and stay a member until one of them fails, or something else is to be watched."""
        self._owed = self._watched_to = ABSENT
        try:
            async with asyncio.TaskGroup() as group:
                for work in (
                    self._watch(),
                    self._confirm(),
                    self._membership.keep(),
                    self._until_other(looked_at),
                ):
                    group.create_task(work)
        except* Compacted:
            self._mirror.forget()
        except* StoreFault:
            # Whether it is away shows when it is asked again, in a moment.
            pass

    async def _until_other(self, looked_at: frozenset[Folder]) -> Never:
        await self._looking.until_other(looked_at)
        raise Dropped("Other values are to be watched.")

    async def _watch(self) -> Never:
        stream = watched(self._gateway, self._mirror.spans, self._mirror.seen)
        async with aclosing(stream):
            async for told in stream:
                self._see(told)
        raise AssertionError("a watch ends with a fault")

    def _see(self, told: Watched) -> None:
        revision = told.header.revision
        changed = self._mirror.see(told.events)
        for each in told.events[-1:]:
            self._mirror.reach(told.watch_id - FIRST_WATCH, each.kv.mod_revision)
        self._watched_to = max(self._watched_to, revision)
        self._know(told.header)
        self._teller.changed(changed)

    async def _confirm(self) -> Never:
        while True:
            await asyncio.sleep(self._pace.confirm_s * (0.9 + self._chance() / 10))
            if self._watched_to < self._owed:
                raise Dropped("The watch did not tell what a read had found long before.")
            if not await self._read():
                raise Dropped("The watch did not tell that something was deleted.")
            self._teller.confirmed()

    async def _read(self) -> bool:
        """Take in what is new, and return whether all is known by that."""
        since, known = self._mirror.seen, self._known
        answer = await self._gateway.ask(TXN, reading(self._mirror.spans, since), TxnAnswer)
        if _is_lost(known, answer.header):
            self._known = Header()
            self._mirror.forget()
            self._teller.lost()
            self._membership.lost()
            return False
        self._know(answer.header)
        self._owed = max(
            (kv.mod_revision for found in answer.found for kv in found.kvs), default=ABSENT
        )
        revision = answer.header.revision
        is_all = self._mirror.take(Reading(revision=revision, found=answer.found, since=since))
        self._membership.seen(self._mirror)
        return is_all

    def _know(self, header: Header) -> None:
        if header.revision > self._known.revision:
            self._known = header

    async def _wait(self) -> None:
        longest = self._pace.again_s_min * 2 ** min(self._tries, _DOUBLINGS_MAX)
        self._tries += 1
        await asyncio.sleep(min(longest, self._pace.again_s_max) * (1 + self._chance()) / 2)

    def _chance(self) -> float:
        return self._rng.choice_index(_JITTER_STEPS) / _JITTER_STEPS


def _is_lost(known: Header, now: Header) -> bool:
    """Return whether this is not the store that was known, or one that began anew."""
    is_other = bool(known.cluster_id) and known.cluster_id != now.cluster_id
    return is_other or now.revision < known.revision

"""The application beside this process: its checks, and the news that it is told.

A check that does not answer `true` or `false` in time protects, as in the library. News are told in their
order and again until they are taken; of labels only the latest counts, so that an application that was away
learns where it stands and not how it came there.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Never, assert_never

import msgspec

from springtide.apps.replicas.pages import member_page
from springtide.edge.http import Calling, HttpFault
from springtide.edge.lines import Log
from springtide.replicas import (
    Complaint,
    InputUnknown,
    LeaderChanged,
    MemberLost,
    MembersChanged,
    Occurrence,
    ReadyChanged,
    ReplicaController,
    RoundChanged,
    TargetChanged,
)
from springtide.replicas.occurrences import KINDS, kind_of
from springtide.wire.crd.replica_member import ApplicationEntry
from springtide.wire.replica_pages import moment

NEWS_MAX: Final = 1000
"""So many wait at most; older ones than the latest of their kind go first."""
RETRY_S_MIN: Final = 0.2
RETRY_S_MAX: Final = 5.0
_LATEST: Final = (TargetChanged, ReadyChanged, LeaderChanged, MembersChanged, RoundChanged)


class Application:
    """What the configuration names, asked and told."""

    def __init__(self, entry: ApplicationEntry, calling: Calling, *, log: Log) -> None:
        self._entry = entry
        self._calling = calling
        self._log = log
        self._news: deque[Occurrence] = deque(maxlen=NEWS_MAX)
        self._woken = asyncio.Event()

    def join(self, controller: ReplicaController, *, timeout_s: float) -> None:
        """Let the controller ask and tell this application."""
        if self._entry.ready:
            controller.set_ready_check(self._check(self._entry.ready), timeout_s=timeout_s)
        if self._entry.stateful:
            controller.set_stateful_check(self._check(self._entry.stateful), timeout_s=timeout_s)
        if self._entry.events:
            for kind in KINDS:
                controller.subscribe(kind, self._put)

    async def run(self) -> Never:
        """Tell news until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._news:
                await self._tell(self._news.popleft())

    def _check(self, url: str) -> Callable[[], Any]:
        return lambda: self._calling.yes_or_no(url)

    def _put(self, news: Occurrence) -> None:
        if isinstance(news, _LATEST):
            self._news = deque(
                (each for each in self._news if type(each) is not type(news)), NEWS_MAX
            )
        self._news.append(news)
        self._woken.set()

    async def _tell(self, news: Occurrence) -> None:
        wait_s = RETRY_S_MIN
        body = msgspec.json.encode(news_page(news))
        while not self._is_outdated(news):
            try:
                await self._calling.tell(self._entry.events, body)
            except HttpFault as fault:
                self._log("news_not_taken", is_fault=True, why=str(fault))
            else:
                return
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, RETRY_S_MAX)

    def _is_outdated(self, news: Occurrence) -> bool:
        """Return whether something newer of the same kind waits to be told."""
        is_latest_kind = isinstance(news, _LATEST)
        return is_latest_kind and any(type(each) is type(news) for each in self._news)


def news_page(news: Occurrence) -> dict[str, object]:
    """Return news as they are posted: their kind, and what they say."""
    facts: dict[str, object]
    match news:
        case TargetChanged(is_target=is_on):
            facts = {"isTarget": is_on}
        case ReadyChanged(is_ready=is_on):
            facts = {"isReady": is_on}
        case LeaderChanged(is_leader=is_on):
            facts = {"isLeader": is_on}
        case RoundChanged():
            facts = _round(news)
        case MembersChanged(members=members):
            facts = {"members": [member_page(each) for each in members]}
        case MemberLost(index=index, record=record):
            facts = {"index": index, "member": record.member}
        case InputUnknown(policy=policy, reason=reason, words=words):
            facts = {"policy": policy, "reason": reason, "message": words}
        case Complaint(words=words):
            facts = {"message": words}
        case _:
            assert_never(news)
    return {"kind": kind_of(news), **facts}


def _round(news: RoundChanged) -> dict[str, object]:
    status = news.status
    return {
        "phase": news.phase,
        "generation": status.generation,
        "current": status.current,
        "expect": status.expect,
        "start": moment(status.start_ms),
        "end": moment(status.end_ms),
        "scaling": moment(status.scaling_ms),
    }

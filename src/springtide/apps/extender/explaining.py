"""Answers why a pod has no node, from what this process knows, without keeping anybody waiting.

The search for what would help takes a processor for long, so that it is done in a process beside this one,
for one question at a time; so many more may wait, and others are told to come back.
"""

import asyncio
from typing import Final

import msgspec

from springtide.apps.extender.following import Following
from springtide.apps.extender.knowledge import Knowledge
from springtide.apps.extender.log import Log
from springtide.apps.extender.scheduling import NOT_READY, STOPPING, Scheduling
from springtide.apps.extender.settings import Choosing
from springtide.apps.why.asked import Names
from springtide.apps.why.question import Question, Told
from springtide.edge.aside import AsideFault, performed
from springtide.edge.serving import Asked, Reply

TIME_S_MAX: Final = 60.0
WAITING_MAX: Final = 8
PODS_MAX: Final = 16
"""Pods that one question may name."""
UNNAMED: Final = "Name the pod: /v1/why?pod=NAMESPACE/NAME."
BUSY: Final = "Too many questions are waiting for an answer. Ask again in a while."
_BESIDE: Final = "springtide.apps.why.beside"
_TOLD: Final = msgspec.json.Decoder(Told)


class WhyFault(msgspec.Struct, frozen=True):
    """Why there is no answer, in a sentence."""

    error: str


class Explaining:
    """The questions that are asked of one process."""

    def __init__(
        self, scheduling: Scheduling, following: Following, *, choosing: Choosing, log: Log
    ) -> None:
        self._scheduling = scheduling
        self._following = following
        self._choosing = choosing
        self._log = log
        self._turn = asyncio.Semaphore(1)
        self._waiting = 0

    async def why(self, asked: Asked) -> Reply:
        """Return the answer, or why there is none."""
        query = asked.query
        pods = tuple(filter(None, query.get("pod", ())))
        if not pods:
            return _fault(400, UNNAMED)
        if len(pods) > PODS_MAX:
            return _fault(400, f"{len(pods)} pods are named; ask about up to {PODS_MAX} at once.")
        if self._scheduling.is_stopping:
            return _fault(503, STOPPING)
        if not self._scheduling.ready.is_set():
            return _fault(503, NOT_READY)
        if self._waiting > WAITING_MAX:
            return _fault(503, BUSY)
        question = Question(
            names=Names(pods=pods, namespace=next(iter(query.get("namespace", ())), "")),
            tells_all_nodes="allNodes" in query,
            policies=self._choosing.policies,
            device_config=self._choosing.device_config,
        )
        self._waiting += 1
        try:
            async with self._turn:
                return await self._answered(question)
        finally:
            self._waiting -= 1

    async def _answered(self, question: Question) -> Reply:
        pods = list(question.names.pods)
        known = Knowledge(self._scheduling.live, self._following.pods, question)
        try:
            answer = await performed(_BESIDE, known.pieces(), time_s_max=TIME_S_MAX)
        except AsideFault as fault:
            self._log("unexplained", is_fault=True, pods=pods, message=str(fault))
            return _fault(504, f"{fault} Ask again, or read the cluster with 'springtide why -A'.")
        told = _TOLD.decode(answer)
        self._log("explained", pods=pods, unknown=told.unknown)
        if told.unknown:
            return _fault(404, told.unknown)
        return Reply(body=bytes(told.report))


def _fault(status: int, why: str) -> Reply:
    return Reply(body=msgspec.json.encode(WhyFault(why)), status=status)

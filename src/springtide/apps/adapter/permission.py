"""Whether somebody may ask: the API server decides, and what it decided counts for a short while."""

from typing import Final

from springtide.apps.adapter.memo import Memo
from springtide.base.clock import Clock
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import Request, Transport
from springtide.wire.delegation import (
    ACCESS_REVIEWS_PATH,
    MASTERS,
    Attributes,
    User,
    Verdict,
    access_review,
    read_access_review,
)

VERDICT_S: Final = 10.0
VERDICTS_MAX: Final = 4096
_GOOD: Final = (200, 201)
_ALLOWED: Final = Verdict(is_allowed=True)


class Permission:
    """Tells what users may do."""

    def __init__(self, api: Transport, *, clock: Clock) -> None:
        self._api = api
        self._verdicts = Memo(
            self._reviewed, clock=clock, keep_s=VERDICT_S, entries_max=VERDICTS_MAX
        )

    async def verdict(self, user: User, attributes: Attributes) -> Verdict:
        """Return whether it may be done; raises ClusterFault or MalformedObject if nobody can tell."""
        if MASTERS in user.groups:
            return _ALLOWED
        return await self._verdicts.get((user, attributes))

    async def _reviewed(self, key: tuple[User, Attributes]) -> Verdict:
        request = Request(method="POST", path=ACCESS_REVIEWS_PATH, body=access_review(*key))
        answer = await self._api.send(request)
        if answer.status not in _GOOD:
            raise object_fault(answer, "a SubjectAccessReview")
        return read_access_review(answer.body)

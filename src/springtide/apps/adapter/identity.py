"""Who asks: the front proxy says so of others, and everybody else has a token.

Headers that name a user count only beside a certificate of the front proxy. Which certificates those are is
read from the cluster again and again, and a change counts from the next handshake on.
"""

import asyncio
from typing import Final, Never

from springtide.apps.adapter.memo import Memo
from springtide.base.clock import Clock
from springtide.edge.cluster.errors import ClusterFault, NotFound
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import Request, Transport
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Certificates, UnusableCertificate
from springtide.wire.delegation import (
    CONFIG_MAP_PATH,
    TOKEN_REVIEWS_PATH,
    FrontProxy,
    User,
    read_front_proxy,
    read_token_review,
    token_review,
    user_of_headers,
)
from springtide.wire.errors import MalformedObject

REREAD_S: Final = 30.0
TOKEN_S: Final = 10.0
TOKENS_MAX: Final = 1024
TOKEN_CHARS_MAX: Final = 16 << 10
_GOOD: Final = (200, 201)
_BEARER: Final = "bearer"


class Identity:
    """Tells who asks."""

    def __init__(self, api: Transport, *, clock: Clock, log: Log) -> None:
        self._api = api
        self._log = log
        self._tokens = Memo(self._reviewed, clock=clock, keep_s=TOKEN_S, entries_max=TOKENS_MAX)
        self.front: FrontProxy | None = None

    async def of(self, asked: Asked) -> User | None:
        """Return who asks, None for a stranger; raises ClusterFault or MalformedObject if nobody can tell."""
        front = self.front
        if front is not None and asked.peer and front.allows(asked.peer):
            return _known(user_of_headers(front, asked.headers))
        scheme, _, token = asked.header("authorization").partition(" ")
        token = token.strip()
        if scheme.lower() != _BEARER or not token or len(token) > TOKEN_CHARS_MAX:
            return None
        return await self._tokens.get(token)

    async def read_front_proxy(self, certificates: Certificates | None) -> None:
        """Learn whom the front proxy may be; raises ClusterFault, MalformedObject or UnusableCertificate."""
        answer = await self._api.send(Request(method="GET", path=CONFIG_MAP_PATH))
        if answer.status not in _GOOD:
            raise object_fault(answer, "ConfigMap kube-system/extension-apiserver-authentication")
        front = read_front_proxy(answer.body)
        if front is None:
            raise NotFound(
                "The API server has no front proxy: start it with --requestheader-client-ca-file, or "
                "write `frontProxy: none` if only tokens are to count."
            )
        is_new = certificates is not None and certificates.trust(front.authority_pem)
        if is_new or front != self.front:
            self._log("front_proxy", names=list(front.allowed_names))
        self.front = front

    async def follow_front_proxy(self, certificates: Certificates | None) -> Never:
        """Learn it again from time to time; what was known before stays in force where that fails."""
        while True:
            await asyncio.sleep(REREAD_S)
            try:
                await self.read_front_proxy(certificates)
            except (ClusterFault, MalformedObject, UnusableCertificate) as fault:
                self._log("front_proxy_unread", is_fault=True, message=str(fault))

    async def _reviewed(self, token: str) -> User | None:
        request = Request(method="POST", path=TOKEN_REVIEWS_PATH, body=token_review(token))
        answer = await self._api.send(request)
        if answer.status not in _GOOD:
            raise object_fault(answer, "a TokenReview")
        return _known(read_token_review(answer.body))


def _known(user: User | None) -> User | None:
    return None if user is None else user.as_known()

"""What a process may do that changes nothing: follow objects, and ask whose a bearer token is.

It is all that such a process is given. A TokenReview is posted, but nothing is stored of it.
"""

from collections.abc import Sequence
from typing import Final, Never, TypeVar

import msgspec

from springtide.edge.cluster.errors import Malformed
from springtide.edge.cluster.kinds import EVERYWHERE, Kind, Scope
from springtide.edge.cluster.port import Deliver
from springtide.edge.kube.informer import Informer, Waiting
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import Request, Transport

T = TypeVar("T")

PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
WHAT: Final = "a TokenReview"
_GOOD: Final = range(200, 300)


class Follower:
    """Follows the objects of a cluster."""

    def __init__(self, transport: Transport, *, waiting: Waiting) -> None:
        self._transport = transport
        self._waiting = waiting

    async def follow(
        self, kind: Kind[T], deliver: Deliver[T], *, scope: Scope = EVERYWHERE
    ) -> Never:
        """Tell what there is and then what changes, until cancelled."""
        informer = Informer(self._transport, kind, deliver, scope=scope, waiting=self._waiting)
        await informer.run()


class _User(msgspec.Struct, frozen=True):
    username: str = ""


class _Status(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _User = _User()
    audiences: tuple[str, ...] = ()


class _Review(msgspec.Struct, frozen=True):
    status: _Status = _Status()


_REVIEW: Final = msgspec.json.Decoder(_Review)


class TokenReviews:
    """Asks the API server whose tokens are; they must be for one of the audiences, if there are any."""

    def __init__(self, transport: Transport, *, audiences: Sequence[str] = ()) -> None:
        self._transport = transport
        self._audiences = tuple(audiences)

    async def user(self, token: str) -> str:
        """Return the name of the user, empty if the token is nobody's; or raise ClusterFault."""
        said = {"audiences": list(self._audiences)} if self._audiences else {}
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, **said},
        }
        answer = await self._transport.send(Request(method="POST", path=PATH, body=body))
        if answer.status not in _GOOD:
            raise object_fault(answer, WHAT)
        try:
            status = _REVIEW.decode(answer.body).status
        except msgspec.DecodeError as fault:
            raise Malformed(f"What came for {WHAT} is no answer to it ({fault}).") from fault
        return status.user.username if self._counts(status) else ""

    def _counts(self, status: _Status) -> bool:
        """Return whether it is good, also where the server does not look at audiences."""
        is_meant = not self._audiences or not set(self._audiences).isdisjoint(status.audiences)
        return status.authenticated and is_meant

"""Short calls of an application's own addresses: questions that are answered yes or no, and news.

Each call is tried once and within its time. Redirects are answers like any other, and so are errors.
"""

from typing import Final

import httpx2
import msgspec

from springtide.edge.http.bearer import bearer
from springtide.edge.http.errors import Malformed, Refused, TooLarge, Unreachable
from springtide.edge.http.opening import AGENT, LOOPBACK, ClosesClient, words

ANSWER_BYTES_MAX: Final = 1 << 20
_SUCCESS: Final = range(200, 300)


class Calling(ClosesClient):
    """Calls one application, to be closed by leaving its block."""

    def __init__(self, *, timeout_s: float, token_file: str = "") -> None:
        self._token_file = token_file
        # Applications elsewhere are known by the certificates that everybody trusts.
        super().__init__(httpx2.AsyncClient(headers=AGENT, timeout=timeout_s, mounts=LOOPBACK))

    async def yes_or_no(self, url: str) -> bool:
        """Return whether the answer is `true` or `false`; raises HttpFault for any other."""
        body = await self._called("GET", url, b"")
        try:
            return msgspec.json.decode(body, type=bool)
        except msgspec.DecodeError as fault:
            text = body[:80].decode("utf-8", "replace")
            raise Malformed(url, f'"{text}" is neither true nor false.') from fault

    async def tell(self, url: str, news: bytes) -> None:
        """Post news as JSON; raises HttpFault unless it is taken."""
        await self._called("POST", url, news)

    async def answered(self, method: str, url: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return what the server answers, whatever its status; raises Unreachable or TooLarge."""
        headers = {"Content-Type": "application/json", **bearer(self._token_file)}
        try:
            async with self._client.stream(method, url, content=body, headers=headers) as answer:
                found = bytearray()
                async for part in answer.aiter_bytes():
                    found += part
                    if len(found) > ANSWER_BYTES_MAX:
                        raise TooLarge(url, 1, verb=method.title())
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as fault:
            raise Unreachable(url, words(fault), verb=method.title()) from fault
        return answer.status_code, bytes(found)

    async def _called(self, method: str, url: str, body: bytes) -> bytes:
        status, found = await self.answered(method, url, body)
        if status not in _SUCCESS:
            raise Refused(url, status, verb=method.title())
        return found

"""Passes other metrics through to another server of external metrics.

Only one server of a cluster can be registered for external metrics; metrics that are none of ours are asked
for there. We ask with our own token: whether the caller may has been decided before.
"""

import asyncio
import ssl
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

import httpx2
import msgspec

from springtide.base.errors import SpringtideError
from springtide.edge.http import HttpFault, bearer
from springtide.edge.http.opening import ClosesClient, opened, words
from springtide.edge.serving import Reply

ANSWER_BYTES_MAX: Final = 4 << 20
CONNECTIONS_MAX: Final = 20
_PATH: Final = "/apis/external.metrics.k8s.io/v1beta1/namespaces"


class Apart(SpringtideError):
    """The other server gave no answer."""


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """Where the other server is, and how it knows us."""

    url: str
    timeout_s: float = 3.0
    token_file: str = ""
    tls: ssl.SSLContext | None = None


class Upstream(ClosesClient):
    """The other server, to be closed by leaving its block."""

    def __init__(self, other: Other) -> None:
        self._other = other
        limits = httpx2.Limits(
            max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX
        )
        super().__init__(opened({"Accept": "application/json"}, tls=other.tls, limits=limits))

    async def ask(self, namespace: str, metric: str, query: Sequence[tuple[str, str]]) -> Reply:
        """Return what the other server answers, or raise Apart."""
        path = f"{_PATH}/{quote(namespace, safe='')}/{quote(metric, safe='')}"
        try:
            async with asyncio.timeout(self._other.timeout_s):
                return await self._asked(self._other.url.rstrip("/") + path, query)
        except HttpFault as fault:
            raise Apart(str(fault)) from fault
        except TimeoutError as fault:
            raise Apart(f"It gave no whole answer within {self._other.timeout_s:g} s.") from fault
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as fault:
            raise Apart(f"It cannot be reached: {words(fault)}.") from fault

    async def _asked(self, url: str, query: Sequence[tuple[str, str]]) -> Reply:
        headers = dict(bearer(self._other.token_file))
        async with self._client.stream("GET", url, params=list(query), headers=headers) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > ANSWER_BYTES_MAX:
                    raise Apart(f"It answered more than {ANSWER_BYTES_MAX >> 20} MiB.")
            return Reply(body=bytes(body), status=response.status_code)

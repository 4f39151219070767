"""Clients, all opened by the same rules, and what went wrong in them in words.

As in Go, proxies of the environment are not for this machine. Without settings of TLS nobody is trusted, which
costs no time to set up. Redirects are not followed, so that no token goes anywhere else.
"""

import os
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

import httpx2

from springtide import __version__

AGENT: Final = {"User-Agent": f"springtide/{__version__}"}
LOOPBACK: Final = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))
"""What is reached without a proxy, as a client wants it."""
UNTIMED: Final = httpx2.Timeout(None)
"""For calls that are timed as a whole, not step by step."""


def opened(
    headers: Mapping[str, str],
    *,
    tls: ssl.SSLContext | None,
    limits: httpx2.Limits,
    timeout: httpx2.Timeout = UNTIMED,
) -> httpx2.AsyncClient:
    """Return a client; raises ValueError, ImportError or InvalidURL for a proxy that cannot be one."""
    return httpx2.AsyncClient(
        headers={**AGENT, **headers},
        verify=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        limits=limits,
        mounts=LOOPBACK,
        timeout=timeout,
    )


class ClosesClient:
    """Has a client, to be closed by leaving its block."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()


def words(fault: BaseException) -> str:
    """Return what happened in the words of the lowest layer that has any."""
    layers = [fault]
    while (below := layers[-1].__cause__ or layers[-1].__context__) is not None:
        layers.append(below)
    for layer in reversed(layers):
        match layer:
            case ssl.SSLCertVerificationError(verify_message=message):
                return f"the certificate is not valid: {message}"
            case ssl.SSLError(reason=str(reason)):
                return f"TLS fails: {reason.lower().replace('_', ' ')}"
            case OSError(errno=int(number)) if number > 0:
                return os.strerror(number)
            case OSError(strerror=str(told)):
                return told
            case _:
                pass
    return str(fault) or type(fault).__name__

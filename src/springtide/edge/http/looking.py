"""Looks at one page of a server, within a time."""

import ssl
from collections.abc import Sequence
from typing import Final

import httpx2
import msgspec

from springtide.edge.http.errors import TooLarge, Unreachable, Unusable
from springtide.edge.http.opening import LOOPBACK, words

PAGE_BYTES_MAX: Final = 64 << 20


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered, whatever its status."""

    status: int
    body: bytes


def look(
    url: str, query: Sequence[tuple[str, str]], *, tls: ssl.SSLContext, timeout_s: float | None
) -> Looked:
    """Return what the server answers; raises Unreachable, TooLarge or Unusable."""
    try:
        with (
            httpx2.Client(verify=tls, timeout=timeout_s, mounts=LOOPBACK) as client,
            client.stream("GET", url, params=list(query)) as response,
        ):
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > PAGE_BYTES_MAX:
                    raise TooLarge(url, PAGE_BYTES_MAX >> 20, verb="Get")
            return Looked(status=response.status_code, body=bytes(body))
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as fault:
        raise Unusable("", f'"{url}" is no URL that can be asked: {fault}.') from fault
    except (httpx2.RequestError, OSError) as fault:
        raise Unreachable(url, words(fault), verb="Get") from fault

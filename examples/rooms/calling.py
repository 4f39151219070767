"""Asks members over HTTP: one POST with the message as JSON."""

import asyncio
from typing import Final, Self

import aiohttp
import msgspec

from examples.rooms.messages import Answer, Message
from examples.rooms.world import Unreached

CONNECTIONS_MAX: Final = 64
_DECODER: Final = msgspec.json.Decoder(Answer)


class HttpPeers:
    """The way to other members; use it as an async context manager."""

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=CONNECTIONS_MAX)
        self._session = aiohttp.ClientSession(connector=connector)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(self, address: str, message: Message, *, timeout_s: float) -> Answer:
        """Return the answer, or raise Unreached."""
        body = msgspec.json.encode(message)
        try:
            async with asyncio.timeout(timeout_s):
                async with self._session.post(f"http://{address}/ask", data=body) as response:
                    said = await response.read()
                if response.status != 200:  # noqa: PLR2004
                    raise Unreached(f"it answers {response.status}")
        except (aiohttp.ClientError, OSError, TimeoutError) as fault:
            raise Unreached(str(fault) or "no answer in time") from fault
        return _DECODER.decode(said)

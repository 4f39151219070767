"""The head of a request, within bounds: how large it may be and how long it may take.

Whoever connects and says nothing, or says it letter by letter, is cut off; so is whoever sends a head
without end.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S_MAX: Final = 15.0
HEAD_BYTES_MAX: Final = 64 << 10
PEER: Final = "peer"
"""Under this name the state of a request holds the certificate of the caller, None if it shows none."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 for callers that may be slow or worse."""

    head_s_max = HEAD_S_MAX

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        self._head_bytes = 0
        self._is_in_head = False
        self._patience: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what comes, unless the head gets too large."""
        was_in_head = self._is_in_head
        self._head_bytes += len(data) if was_in_head else 0
        if self._head_bytes > HEAD_BYTES_MAX:
            self._give_up()
            return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._is_in_head = True
        self._head_bytes = 0
        if self._patience is None:
            self._await_head()
        super().on_message_begin()
        self.scope["state"][PEER] = _certificate(self.transport)

    def on_headers_complete(self) -> None:
        """End the head."""
        self._is_in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._patience = self.loop.call_later(self.head_s_max, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.abort()


def bounded(head_s_max: float) -> type[BoundedProtocol]:
    """Return the protocol with so much patience for heads."""
    return type("Bounded", (BoundedProtocol,), {"head_s_max": head_s_max})


def _certificate(transport: asyncio.Transport) -> dict[str, Any] | None:
    connection = transport.get_extra_info("ssl_object")
    return None if connection is None else (connection.getpeercert() or None)

"""The head of a request, within bounds: how large it may be and how long it may take.

Whoever connects and says nothing, or says it letter by letter, is cut off; so is whoever sends a head
without end, or goes on with the body of a request that is answered.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S_MAX: Final = 15.0
HEAD_BYTES_MAX: Final = 64 << 10
PEER: Final = "peer"
"""Under this name the state of a request holds the certificate of the caller, None if it shows none."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 for callers that may be slow or worse; `leave` is called when one is gone."""

    def __init__(self, *, head_s_max: float, leave: Callable[[], None], **settings: Any) -> None:
        super().__init__(**settings)
        self._head_s_max = head_s_max
        self._leave = leave
        self._sent_bytes = 0
        self._fields_bytes = 0
        self._is_in_head = False
        self._has_asked = False
        self._patience: asyncio.TimerHandle | None = None

    @property
    def rests_until_s(self) -> float | None:
        """Return when the connection is closed for idleness, None while something is under way."""
        idle = self.timeout_keep_alive_task
        return None if idle is None else idle.when()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what comes, unless the head gets too large."""
        self._sent_bytes += len(data) if self._is_in_head else 0
        if self._sent_bytes > HEAD_BYTES_MAX:
            self._give_up()
            return
        super().data_received(data)
        # What came may be no request: empty lines, or the rest of a body that nobody waits for.
        if self._patience is None and self.rests_until_s is None and self._is_answered():
            self._await_head()

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._is_in_head = True
        self._sent_bytes = self._fields_bytes = 0
        if self._patience is None:
            self._await_head()
        super().on_message_begin()
        self.scope["state"][PEER] = _certificate(self.transport)

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field."""
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head."""
        self._is_in_head = False
        self._has_asked = True
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._leave()

    def _count(self, size: int) -> None:
        """Count what has been parsed: a head that comes at once is not seen to grow."""
        self._fields_bytes += size
        if self._fields_bytes > HEAD_BYTES_MAX:
            raise ValueError("The head is too large.")

    def _is_answered(self) -> bool:
        return not self._is_in_head and (not self._has_asked or self.cycle.response_complete)

    def _await_head(self) -> None:
        self._patience = self.loop.call_later(self._head_s_max, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.abort()


def _certificate(transport: asyncio.Transport) -> dict[str, Any] | None:
    connection = transport.get_extra_info("ssl_object")
    return None if connection is None else (connection.getpeercert() or None)

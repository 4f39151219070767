"""A scheduler extender for tests: a real HTTP server in a thread, which answers as it is told to."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import msgspec

Body = Mapping[str, Any]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the server sends back. `cuts` announces more than is sent; `hangs` sends nothing."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    cuts: bool = False
    hangs: bool = False
    trickles: bool = False


Answer = Callable[[str, Body], Reply | Body | list[Any]]
"""From the path and the request to the reply, or to the document of an ordinary one."""


class Extender:
    """The server: where it is, and what it was asked, as (path, request) in order of arrival.

    `bodies` has the same as it came; a request without body is one of an empty document.
    """

    def __init__(self, answer: Answer, *, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[tuple[str, Body]] = []
        self.bodies: list[tuple[str, bytes]] = []
        self.headers: list[Mapping[str, str]] = []
        self.connections = 0
        self.ended = threading.Event()
        self._answer = answer
        self._server = _Listening(self)
        if tls is not None:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "http" if tls is None else "https"
        self.port = self._server.server_port
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.url_by_name = f"{scheme}://localhost:{self.port}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def reply(self, path: str, data: bytes) -> Reply:
        """Return what to send back for a request."""
        request = json.loads(data or b"{}")
        self.bodies.append((path, data))
        self.asked.append((path, request))
        answer = self._answer(path, request)
        return answer if isinstance(answer, Reply) else Reply(body=json.dumps(answer).encode())

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        """Let whoever hangs go, and stop."""
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def serving(answer: Answer, *, tls: ssl.SSLContext | None = None) -> Iterator[Extender]:
    """Run an extender as long as the block."""
    extender = Extender(answer, tls=tls)
    try:
        yield extender
    finally:
        extender.close()


class _Listening(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, extender: Extender) -> None:
        self.extender = extender
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that give up are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A connection that is kept must not keep the server from ending.
    timeout: ClassVar[float | None] = 1.0

    def setup(self) -> None:
        super().setup()
        self._extender.connections += 1

    @property
    def _extender(self) -> Extender:
        assert isinstance(self.server, _Listening)
        return self.server.extender

    def do_GET(self) -> None:
        """Answer one request without body."""
        self.do_POST()

    def do_POST(self) -> None:
        """Answer one request."""
        extender = self._extender
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        extender.headers.append(dict(self.headers))
        reply = extender.reply(self.path, data)
        if reply.hangs:
            extender.ended.wait()
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) + reply.cuts))
        self.end_headers()
        if reply.trickles:
            self._trickle(reply.body)
        else:
            self.wfile.write(reply.body)
        self.close_connection = reply.cuts

    def _trickle(self, body: bytes) -> None:
        """Send byte by byte, never fast enough, until the client gives up."""
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self._extender.ended.wait(0.02):
                return

    def log_message(self, *_: object) -> None:
        """Say nothing."""

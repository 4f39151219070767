"""A little application beside a member: it answers checks, keeps what it is told, and exports its rooms."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec

HANG_S_MAX: Final = 20.0
LABELS: Final = (
    'service_name="{workload}",service_instance_id="{member}",hpa_target_kind="StatefulSet",'
    'hpa_target_name="{workload}",hpa_target_api_version="apps/v1"'
)
BROKEN: Final = "broken"
"""Instead of `true` or `false`: the check fails."""
HANGING: Final = "hanging"
"""Instead of `true` or `false`: the check answers too late."""


class Told(msgspec.Struct, frozen=True):
    """News that the application was told, and when."""

    at_s: float
    news: dict[str, Any]

    @property
    def kind(self) -> str:
        """Return what they are about."""
        return str(self.news["kind"])


class Application:
    """What it answers may be changed at any time."""

    def __init__(self, workload: str, member: str, *, rooms: int) -> None:
        self.ready = "true"
        self.stateful = "true"
        self.rooms = rooms
        self.metric = "rooms"
        self.is_scraped = True
        self.told: list[Told] = []
        self._labels = LABELS.format(workload=workload, member=member)
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.application = self
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name=member
        )
        self._thread.start()

    def news(self, kind: str) -> list[Told]:
        """Return what it was told of one kind."""
        return [each for each in list(self.told) if each.kind == kind]

    def answer(self, path: str) -> str | None:
        """Return what a question is answered; None where that fails."""
        if path == "/metrics":
            return self.page() if self.is_scraped else None
        said = self.ready if path == "/ready" else self.stateful
        if said == HANGING:
            self._ended.wait(HANG_S_MAX)
        return None if said == BROKEN else said

    def page(self) -> str:
        """Return what it exports."""
        return f"{self.metric}{{{self._labels}}} {self.rooms}\n"

    def close(self) -> None:
        """End it."""
        self._ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    application: Application
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of members that are killed in the middle of a question."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a check or a scrape."""
        said = self._application.answer(self.path)
        body = (said or "").encode()
        self.send_response(500 if said is None else 200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Take news."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._application.told.append(Told(time.monotonic(), json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    @property
    def _application(self) -> Application:
        assert isinstance(self.server, _Server)
        return self.server.application


@contextmanager
def application(workload: str, member: str, *, rooms: int) -> Iterator[Application]:
    """Run one as long as the block."""
    found = Application(workload, member, rooms=rooms)
    try:
        yield found
    finally:
        found.close()

"""Applications beside members: each answers its checks, hears news, and shows its load to Prometheus.

An application gives up what it holds as soon as it is told to leave, unless a test says otherwise. The whole
load of a workload is shown by the first of its applications, so that it is counted once whoever comes and goes.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

PORT: Final = 8080

Said = Callable[[str], str]


class Application:
    """One application; what it holds is up to a test unless it `lets_go`."""

    def __init__(self, name: str, address: str, metrics: Said) -> None:
        self.name = name
        self.holds = True
        self.is_loaded = True
        self.lets_go = True
        self.news: list[dict[str, Any]] = []
        self._metrics = metrics
        self._server = _Listening(self, address)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def page(self, path: str) -> str:
        """Return what is answered to a question."""
        match path:
            case "/ready":
                return str(self.is_loaded).lower()
            case "/stateful":
                return str(self.holds).lower()
            case _:
                return self._metrics(self.name)

    def hear(self, news: dict[str, Any]) -> None:
        """Take news, and hand everything over once new state belongs elsewhere."""
        self.news.append(news)
        if news["kind"] == "target_changed" and (news["isTarget"] or self.lets_go):
            self.holds = news["isTarget"]

    def told(self, kind: str) -> list[dict[str, Any]]:
        """Return the news of a kind."""
        return [each for each in self.news if each["kind"] == kind]

    def close(self) -> None:
        """End."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, application: Application, address: str) -> None:
        super().__init__((address, PORT), _Answering)
        self.application = application


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(self._application.page(self.path).encode())

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._application.hear(json.loads(data))
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @property
    def _application(self) -> Application:
        assert isinstance(self.server, _Listening)
        return self.server.application

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

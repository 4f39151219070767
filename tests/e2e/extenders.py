"""A scheduler extender that says yes to everything, and keeps what it is asked, byte for byte."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec

from tests.e2e.commands import Object

FILTER: Final = "/filter"
PRIORITIZE: Final = "/prioritize"
BIND: Final = "/bind"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def read(self) -> Any:
        """What the body says."""
        return json.loads(self.body)


class Extender:
    """Where it listens, and what it was asked. `bind` does what a Binding would."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.bind: Callable[[Object], None] | None = None
        self._server = _Listening(self)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def calls(self, path: str, pod: str) -> list[Asked]:
        """Return the calls of a path that are about a pod of this name."""
        return [each for each in list(self.asked) if each.path == path and _pod(each.read) == pod]

    def answer(self, call: Asked) -> Any:
        """Keep a call and say yes."""
        self.asked.append(call)
        said = call.read
        match call.path:
            case "/filter":
                kept = {key: said[key] for key in ("Nodes", "NodeNames")}
                return {**kept, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}
            case "/prioritize":
                names = said["NodeNames"] or [
                    each["metadata"]["name"] for each in said["Nodes"]["items"]
                ]
                return [{"Host": name, "Score": 0} for name in names]
            case _:
                assert self.bind is not None
                self.bind(said)
                return {"Error": ""}


@contextmanager
def serving_extender() -> Iterator[Extender]:
    """Answer calls as long as the block."""
    extender = Extender()
    thread = threading.Thread(target=extender._server.serve_forever, name="extender")  # noqa: SLF001
    thread.start()
    try:
        yield extender
    finally:
        extender._server.shutdown()  # noqa: SLF001
        extender._server.server_close()  # noqa: SLF001
        thread.join()


def _pod(said: Object) -> str:
    pod = said.get("Pod")
    return str(pod["metadata"]["name"] if pod else said.get("PodName"))


class _Listening(ThreadingHTTPServer):
    def __init__(self, extender: Extender) -> None:
        self.extender = extender
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a call."""
        assert isinstance(self.server, _Listening)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        call = Asked(path=self.path, headers=dict(self.headers.items()), body=body)
        answer = json.dumps(self.server.extender.answer(call)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

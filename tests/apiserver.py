"""An API server for tests: a real HTTP server that lists objects in pages, and fails as it is told to.

It serves what it is given by path, without `kind` and `apiVersion` in the items as a real one does,
and answers 404 to everything else. `scripted` replies to a path go first, one after the other.
"""

import json
import ssl
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from springtide.wire.k8s.resources import RESOURCES

Object = dict[str, Any]
PATHS = {each.kind: each.path(each.versions[0]) for each in RESOURCES}
VERSIONS = {
    each.kind: f"{each.group}/{each.versions[0]}" if each.group else each.versions[0]
    for each in RESOURCES
}


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent instead of a list. `cuts` breaks the connection off, `hangs` sends nothing."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    cuts: bool = False
    hangs: bool = False


def status(code: int, message: str = "", *, retry_after: str = "") -> Reply:
    """Return a refusal as an API server words it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message}
    headers = (("Retry-After", retry_after),) if retry_after else ()
    return Reply(status=code, body=json.dumps(body).encode(), headers=headers)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


class ApiServer:
    """The server: its objects by path, what it was asked, and what it says out of turn."""

    def __init__(
        self, objects: Sequence[Object], *, page_objects: int, tls: ssl.SSLContext | None
    ) -> None:
        self.lists: dict[str, tuple[str, list[Object]]] = {
            path: (kind, []) for kind, path in PATHS.items() if not path.startswith("/apis/spring")
        }
        for each in objects:
            self.lists.setdefault(PATHS[each["kind"]], (each["kind"], []))[1].append(each)
        self.scripted: dict[str, list[Reply]] = defaultdict(list)
        self.asked: list[Asked] = []
        self.ended = threading.Event()
        self.has_hung = threading.Event()
        self._page_objects = page_objects
        self._server = _Listening(self)
        if tls is not None:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def reply(self, asked: Asked) -> Reply:
        """Return what to send back."""
        self.asked.append(asked)
        if self.scripted[asked.path]:
            return self.scripted[asked.path].pop(0)
        if asked.path not in self.lists:
            return status(404, "the server could not find the requested resource")
        return Reply(body=json.dumps(self._page(asked)).encode())

    def _page(self, asked: Asked) -> Object:
        kind, objects = self.lists[asked.path]
        start = int(asked.query.get("continue", "0"))
        # The most that a client may ask for is what makes a test page small.
        size = min(int(asked.query.get("limit", "0")) or len(objects), self._page_objects)
        size = size if "limit" in asked.query else len(objects)
        end = start + size
        items = [
            {key: value for key, value in each.items() if key not in {"kind", "apiVersion"}}
            for each in objects[start:end]
        ]
        metadata = {"resourceVersion": "7"}
        if end < len(objects):
            metadata["continue"] = str(end)
        version = VERSIONS[kind]
        return {"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": items}

    def count(self, path: str) -> int:
        """Return how often a path was asked for."""
        return sum(each.path == path for each in self.asked)

    def close(self) -> None:
        """Let whoever hangs go, and stop."""
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def api_server(
    objects: Sequence[Object] = (), *, page_objects: int = 500, tls: ssl.SSLContext | None = None
) -> Iterator[ApiServer]:
    """Run an API server as long as the block."""
    server = ApiServer(objects, page_objects=page_objects, tls=tls)
    try:
        yield server
    finally:
        server.close()


def kubeconfig(
    path: Path,
    server: str,
    *,
    user: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
) -> str:
    """Write a kubeconfig with the context `test`, and return its path."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "u", "user": dict(user or {"token": "t0ken"})}],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


class _Listening(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that give up are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A connection that is kept must not keep the server from ending.
    timeout: ClassVar[float | None] = 1.0

    def do_PATCH(self) -> None:
        """Answer one request with a body, which changes nothing here."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer one request."""
        assert isinstance(self.server, _Listening)
        api = self.server.api
        parts = urlsplit(self.path)
        asked = Asked(
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            headers=dict(self.headers),
            body=self.rfile.read(int(self.headers.get("Content-Length", "0"))),
        )
        reply = api.reply(asked)
        if reply.hangs:
            api.has_hung.set()
            api.ended.wait()
        if reply.hangs or reply.cuts:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

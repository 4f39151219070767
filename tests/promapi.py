"""A Prometheus for tests: its query API over HTTP, as far as the adapter asks it, from samples in memory.

It knows selectors of one name with labels that must be there or equal, `timestamp`, `label_replace` and `or`. What it
answers is held against a real Prometheus by tests/contract/test_prometheus.py.
"""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs

import msgspec

LOOKBACK_S: Final = 300.0
_SELECTOR: Final = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)\{(?P<matchers>[^}]*)\}")
_PART: Final = re.compile(
    r'label_replace\(timestamp\((?P<timed>[^)]*)\), "(?P<label>\w+)", "(?P<value>[^"]*)", "", ""\)'
)
_NAME: Final = "__name__"

Labels = Mapping[str, str]


class Taken(msgspec.Struct, frozen=True):
    """One sample."""

    labels: dict[str, str]
    value: str
    unix_s: float


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent instead of an answer."""

    status: int = 200
    body: bytes = b""


class PromApi:
    """The server: what it has, what it was asked, and how it fails when told to."""

    def __init__(self) -> None:
        self.samples: list[Taken] = []
        self.asked: list[str] = []
        self.headers: list[Labels] = []
        self.warnings: list[str] = []
        self.fails_with: Reply | None = None
        self.url = ""

    def put(self, name: str, value: str | float, *, age_s: float = 0.0, **labels: str) -> None:
        """Add a sample."""
        taken_s = time.time_ns() / 1e9 - age_s
        self.samples.append(Taken({_NAME: name, **labels}, str(value), taken_s))

    def put_member(
        self,
        name: str,
        value: str | float,
        *,
        member: str,
        age_s: float = 0.0,
        target: str = "chat",
        namespace: str = "game",
    ) -> None:
        """Add a sample of a member of a workload."""
        labels = {"k8s_namespace_name": namespace, "hpa_target_name": target, "instance": member}
        self.put(name, value, age_s=age_s, **labels)

    def reply(self, form: Mapping[str, list[str]]) -> Reply:
        """Return the answer to a query."""
        query = form["query"][0]
        self.asked.append(query)
        if self.fails_with is not None:
            return self.fails_with
        now_s = float(form["time"][0]) if "time" in form else time.time_ns() / 1e9
        document = {
            "status": "success",
            "data": {"resultType": "vector", "result": self._result(query, now_s)},
            **({"warnings": self.warnings} if self.warnings else {}),
        }
        return Reply(body=json.dumps(document).encode())

    def _result(self, query: str, now_s: float) -> list[dict[str, Any]]:
        found: dict[frozenset[tuple[str, str]], tuple[Labels, str]] = {}
        for part in query.split(" or "):
            for labels, text in self._part(part, now_s):
                key = frozenset(pair for pair in labels.items() if pair[0] != _NAME)
                found.setdefault(key, (labels, text))
        return [
            {"metric": dict(labels), "value": [round(now_s, 3), text]}
            for labels, text in found.values()
        ]

    def _part(self, part: str, now_s: float) -> Iterator[tuple[Labels, str]]:
        timed = _PART.fullmatch(part)
        for each in self._selected(part if timed is None else timed["timed"], now_s):
            if timed is None:
                yield each.labels, each.value
            else:
                bare = {key: value for key, value in each.labels.items() if key != _NAME}
                yield {**bare, timed["label"]: timed["value"]}, f"{each.unix_s:.3f}"

    def _selected(self, text: str, now_s: float) -> Iterator[Taken]:
        selector = _SELECTOR.fullmatch(text)
        assert selector is not None, f"no such query is known here: {text}"
        wanted = re.findall(r'(\w+)!=""', selector["matchers"])
        equal = re.findall(r'(\w+)="([^"]*)"', selector["matchers"])
        newest: dict[frozenset[tuple[str, str]], Taken] = {}
        for each in self.samples:
            is_meant = each.labels[_NAME] == selector["name"] and each.unix_s > now_s - LOOKBACK_S
            has_all = all(each.labels.get(key) for key in wanted)
            if is_meant and has_all and all(each.labels.get(k) == v for k, v in equal):
                newest[frozenset(each.labels.items())] = each
        yield from newest.values()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float | None] = 1.0

    def do_POST(self) -> None:
        """Answer one query."""
        api = self.server.api  # type: ignore[attr-defined]
        data = self.rfile.read(int(self.headers["Content-Length"]))
        api.headers.append(dict(self.headers))
        reply = api.reply(parse_qs(data.decode()))
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def prometheus(api: PromApi | None = None, *, port: int = 0) -> Iterator[PromApi]:
    """Serve it as long as the block."""
    found = api or PromApi()
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.api = found  # type: ignore[attr-defined]
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""What stands between members and Prometheus where metrics are pushed: it shows what it last had, as if it were new."""

import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tests.e2e.membership import Membership

PUSH_S: Final = 0.5
ANSWER_S: Final = 0.5


class Collector:
    """Members would push to it; it fetches instead, and keeps what it got last of each."""

    def __init__(self, fleet: Membership) -> None:
        self._pages = {each: "" for member in fleet.members for each in member.targets}
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._follow, args=(each,), name=f"push of {each}")
            for each in self._pages
        ]
        for each in self._threads:
            each.start()

    def text(self) -> str:
        """Return all that members said last."""
        lines = "".join(self._pages.values()).splitlines()
        return "".join(f"{each}\n" for each in lines if each and not each.startswith("#"))

    def close(self) -> None:
        """End it."""
        self._ended.set()
        for each in self._threads:
            each.join()

    def _follow(self, target: str) -> None:
        while not self._ended.wait(PUSH_S):
            url = f"http://{target}/metrics"
            with suppress(OSError), urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
                self._pages[target] = answer.read().decode()


@contextmanager
def collector(fleet: Membership) -> Iterator[str]:
    """Run one for a workload as long as the block, and give its address."""
    found = Collector(fleet)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Show all."""
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(found.text().encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        found.close()

"""A page of metrics as a pod exports it, on loopback, for a Prometheus to scrape."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class _Page(BaseHTTPRequestHandler):
    text = ""

    def do_GET(self) -> None:
        """Show what pods export."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def exported(text: str) -> Iterator[str]:
    """Show a page as long as the block."""
    server = HTTPServer(("127.0.0.1", 0), type("Page", (_Page,), {"text": text}))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

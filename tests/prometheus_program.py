"""A real Prometheus that scrapes what a test shows, and what it answers."""

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from springtide.edge.prometheus import Access, Prometheus, Vector
from tests.adapting import E
from tests.e2e.ours import free_port
from tests.e2e.waiting import eventually


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


@contextmanager
def real(program: str, folder: Path, text: str) -> Iterator[str]:
    """Run a real Prometheus that has scraped a page."""
    port = free_port()
    with exported(text) as target:
        scrape = {"job_name": "pods", "scrape_interval": "200ms", "scrape_timeout": "200ms"}
        scrape["static_configs"] = [{"targets": [target]}]  # type: ignore[assignment]
        folder.joinpath("prometheus.json").write_text(json.dumps({"scrape_configs": [scrape]}))
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'prometheus.json'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stderr=subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            eventually(lambda: has_scraped(url), lambda found: found)
            yield url
        finally:
            process.kill()
            process.wait()


def has_scraped(url: str) -> bool:
    """Return whether a Prometheus has samples."""
    try:
        with urllib.request.urlopen(f"{url}/api/v1/query?query={E}", timeout=5) as answer:
            return bool(json.load(answer)["data"]["result"])
    except OSError:
        return False


def asked(url: str, query: str) -> Vector:
    """Return what a query comes to."""

    async def work() -> Vector:
        async with Prometheus(Access(url=url)) as client:
            return await client.query(query)

    return asyncio.run(work())

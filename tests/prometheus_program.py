"""A real Prometheus that scrapes what a test shows, and what it answers."""

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from springtide.edge.prometheus import Access, Prometheus, Vector
from tests.adapting import E
from tests.e2e.ours import free_port
from tests.e2e.waiting import eventually
from tests.exporting import exported


@contextmanager
def real(program: str, folder: Path, text: str, *, every: str = "200ms") -> Iterator[str]:
    """Run a real Prometheus that has scraped a page."""
    port = free_port()
    with exported(text) as target:
        scrape = {"job_name": "pods", "scrape_interval": every, "scrape_timeout": every}
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

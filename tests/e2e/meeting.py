"""Where members of tests meet: a real etcd, a real Prometheus that scrapes every second, and lines to both.

Workloads share them, each under keys and labels of its own.
"""

import base64
import json
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.edge.store.etcd import shapes
from tests.e2e.fleets import Aside
from tests.e2e.ours import free_port
from tests.e2e.processes import Processes
from tests.e2e.waiting import eventually
from tests.etcds import MISSING, Etcd, Given, program
from tests.tcpproxy import Line, line

PROMETHEUS: Final = "prometheus"
ANSWER_S: Final = 5.0
SCRAPE: Final = "1s"


class Meeting:
    """Both servers, as long as the block."""

    def __init__(self, folder: Path, processes: Processes, aside: Aside) -> None:
        self.folder = folder
        self.processes = processes
        self.aside = aside
        self.prometheus_port = free_port()
        self._targets = folder / "targets"
        self._targets.mkdir()
        self._stack = AsyncExitStack()
        self.etcd: Etcd = aside.done(self._etcd())

    async def _etcd(self) -> Etcd:
        found = Etcd(self.processes, self.folder, Given())
        await found.start()
        return found

    def start_prometheus(self, path: str) -> None:
        """Start it, and wait until it answers."""
        jobs = [{"files": [f"{self._targets}/*.json"], "refresh_interval": "1s"}]
        scraped = {"job_name": "members", "file_sd_configs": jobs}
        pace = {"scrape_interval": SCRAPE, "scrape_timeout": SCRAPE}
        document = {"global": pace, "scrape_configs": [scraped]}
        file = self.folder / "prometheus.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        self.processes.start(
            PROMETHEUS,
            [
                path,
                f"--config.file={file}",
                f"--storage.tsdb.path={self.folder / 'samples'}",
                f"--web.listen-address=127.0.0.1:{self.prometheus_port}",
            ],
        )
        eventually(self._answers, bool, limit_s=30)

    def scrape(self, name: str, targets: list[str], *, every: str = SCRAPE) -> None:
        """Have Prometheus scrape these from now on."""
        pace = {"__scrape_interval__": every, "__scrape_timeout__": SCRAPE}
        body = json.dumps([{"targets": targets, "labels": pace}])
        half = self._targets / f"{name}.part"
        half.write_text(body, encoding="utf-8")
        half.rename(self._targets / f"{name}.json")

    def forget(self, name: str) -> None:
        """Have Prometheus scrape them no more."""
        (self._targets / f"{name}.json").unlink()

    def query(self, text: str) -> list[float]:
        """Return the values of a query."""
        url = f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?query={text}"
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            found = json.load(answer)["data"]["result"]
        return [float(each["value"][1]) for each in found]

    def line(self, before: int) -> Line:
        """Return a line to a port that ends with this."""
        return self.aside.done(self._stack.enter_async_context(line(before)))

    def put(self, key: str, text: str) -> None:
        """Write over a key."""
        self.aside.done(self.etcd.do(shapes.put(key, text)))

    def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin like this."""
        answer = self.aside.done(self.etcd.do(shapes.get(prefix, is_prefix=True)))
        return sorted(each.key.decode() for each in answer.found[0].kvs)

    def history(self, key: str) -> list[dict[str, Any]]:
        """Return all that a key has held since it was made, or since etcd forgot, in its order."""
        found: list[dict[str, Any]] = []
        revision = 0
        while (kept := self._at(key, revision)) is not None:
            found.append(json.loads(base64.b64decode(kept["value"])))
            revision = int(kept["mod_revision"]) - 1
        return found[::-1]

    def close(self) -> None:
        """End all lines."""
        self.aside.done(self._stack.aclose())
        self.aside.done(self.etcd.hand.close())

    def _at(self, key: str, revision: int) -> dict[str, Any] | None:
        asked = {"key": base64.b64encode(key.encode()).decode(), "revision": str(revision)}
        request = urllib.request.Request(
            f"{self.etcd.url}/v3/kv/range", data=json.dumps(asked).encode()
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
                kept: list[dict[str, Any]] = json.load(answer).get("kvs", [])
        except urllib.error.HTTPError as fault:
            fault.close()
            return None
        return kept[0] if kept else None

    def _answers(self) -> bool:
        try:
            return self.query("vector(1)") == [1]
        except OSError:
            return False


@contextmanager
def meeting(folder: Path) -> Iterator[Meeting]:
    """Run both as long as the block; skip the test where one of them is missing."""
    prometheus = shutil.which(PROMETHEUS)
    if program() is None:
        pytest.skip(MISSING)
    if prometheus is None:
        pytest.skip("there is no prometheus on the path")
    with Processes(folder / "logs", patience_s=1.0) as processes, Aside() as aside:
        found = Meeting(folder, processes, aside)
        try:
            found.start_prometheus(prometheus)
            yield found
        finally:
            found.close()

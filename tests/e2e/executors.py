"""Our executor in a process of its own, which a test starts, kills, ends and looks into."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.error import HTTPError

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.ours import free_port
from tests.e2e.waiting import eventually
from tests.promapi import PromApi

ANSWER_S: Final = 5.0
STOP_S: Final = 15.0
LIMIT_S: Final = 30.0


class Execution:
    """One executor with its state, to be killed by leaving the block; members are ended by others."""

    def __init__(
        self,
        folder: Path,
        api: PromApi,
        executor: Mapping[str, Any],
        *,
        name: str = "executor",
        **more: Any,
    ) -> None:
        self.folder = folder
        self.name = name
        self.port = free_port()
        self.environ: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        document = {
            "apiVersion": "springtide.io/v1alpha1",
            "kind": "ReplicasExecutorConfiguration",
            "workload": "chat",
            "executor": executor,
            "source": {"prometheus": {"url": api.url, "timeout": "2s"}},
            "bounds": {"min": 1, "max": 8},
            "stateDirectory": str(folder / "state"),
            "bindAddress": f"127.0.0.1:{self.port}",
            "interval": "200ms",
            "callTimeout": "1s",
            "settle": "2s",
            **more,
        }
        self.config = folder / f"{name}.yaml"
        self.config.write_text(json.dumps(document))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(signal.SIGKILL)

    @property
    def log(self) -> Path:
        """Return where it writes what it does."""
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "springtide", "replicas", "execute"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--config", str(self.config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environ},
            )

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it if it runs, and return its code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(how)
        return process.wait(STOP_S)

    def wait(self) -> int:
        """Wait until it ends by itself, and return its code."""
        assert self._process is not None
        process, self._process = self._process, None
        return process.wait(STOP_S)

    def page(self, path: str) -> bytes:
        """Return a page, empty while there is none."""
        try:
            url = f"http://127.0.0.1:{self.port}{path}"
            with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
                data: bytes = answer.read()
                return data
        except HTTPError as fault:
            return fault.read()
        except OSError:
            return b""

    def status(self) -> dict[str, Any]:
        """Return where it stands, empty while it does not say."""
        found: dict[str, Any] = json.loads(self.page("/v1/status") or b"{}")
        return found

    def until(self, **facts: Any) -> dict[str, Any]:
        """Wait until it stands so."""
        return eventually(
            self.status,
            lambda found: all(found.get(name) == fact for name, fact in facts.items()),
            limit_s=LIMIT_S,
        )

    def until_it_says(self, words: str) -> dict[str, Any]:
        """Wait until its last decision has these words."""
        return eventually(self.status, lambda found: words in found.get("why", ""), limit_s=LIMIT_S)

    def metric(self, name: str) -> float:
        """Return one of its own metrics."""
        text = self.page("/metrics").decode()
        (value,) = (
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == name
        )
        return value

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return what it logged under a name."""
        lines = (json.loads(each) for each in self.log.read_text().splitlines() if each[:1] == "{")
        return [each for each in lines if each["event"] == name]


def say(
    api: PromApi,
    *,
    expect: int | str,
    generation: int,
    members: int = 0,
    serving: Iterable[int] = (),
    target: str = "chat",
) -> None:
    """Have members say how many are wanted, and which must keep serving."""
    api.samples = [each for each in api.samples if each.labels["hpa_target_name"] != target]
    api.put_member("hpa_expect_replicas", expect, member="a", target=target)
    api.put_member("hpa_status_generation", generation, member="a", target=target)
    serving = set(serving)
    for index in range(1, members + 1):
        value = index if index in serving else 0
        api.put_member("hpa_stateful_index", value, member=f"m{index}", target=target)

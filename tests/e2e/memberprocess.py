"""One member as a process of its own, beside an application, behind lines that a test cuts.

Times are short: a round takes three seconds, a window one, a lease three, and metrics are pulled every second.
"""

import json
import os
import signal
import socket
import sys
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.applications import Application
from tests.e2e.meeting import Meeting
from tests.tcpproxy import Line, Mode

Object = dict[str, Any]

ANSWER_S: Final = 10.0
LIMIT_S: Final = 30.0
PORT_MIN: Final = 20_000
PORT_MAX: Final = 32_000
PORTS: Final = 10_000
"""Where systems give no port to whoever asks for any."""

_SHORT: Final[Object] = {
    "controller": {"enabled": True, "initWait": "1s", "leaseTtl": "3s", "stopGrace": "20s"},
    "metrics": {
        "enabled": True,
        "pullInterval": "1s",
        "pullRetryInterval": "1s",
        "pullTimeout": "1s",
        "exportInterval": "1s",
        "scrapeInterval": "1s",
        "statusMaxAge": "6s",
    },
    "replicas": {"min": 1, "max": 9},
    "schedule": {"startDelay": "1s", "period": "1s", "scalingDelay": "1s"},
    "scaleUp": {"window": "1s"},
    "scaleDown": {"window": "1s", "stepMax": 1},
}


class Lines(msgspec.Struct, frozen=True):
    """How a member reaches others, and how its page is scraped."""

    etcd: Line
    prometheus: Line
    pages: Line


class Member:
    """One process and its application; it keeps its ports however often it is started."""

    def __init__(self, meeting: Meeting, workload: str, number: int, beside: Application) -> None:
        self.name = f"{workload}-{number - 1}"
        self.number = number
        self.application = beside
        self._meeting = meeting
        self._calls, self._pages = _port(), _port()
        self.lines = Lines(
            meeting.line(meeting.etcd.port),
            meeting.line(meeting.prometheus_port),
            meeting.line(self._pages),
        )
        self.file = meeting.folder / f"{self.name}.json"

    @property
    def targets(self) -> list[str]:
        """Return what is scraped of it."""
        return [f"127.0.0.1:{self.lines.pages.port}", self.application.address]

    @property
    def url(self) -> str:
        """Return where operators ask it."""
        return f"http://127.0.0.1:{self._calls}"

    @property
    def is_running(self) -> bool:
        """Return whether it was started and not ended."""
        return self.name in self._meeting.processes

    @property
    def process_id(self) -> int:
        """Return what the system calls it."""
        return self._meeting.processes.process_id(self.name)

    def configure(self, document: Mapping[str, Any]) -> None:
        """Write the configuration for the next start."""
        asked = f"http://{self.application.address}"
        own = {
            "store": {
                "etcd": {
                    "endpoints": [f"http://127.0.0.1:{self.lines.etcd.port}"],
                    "timeout": "1s",
                    "memberTtl": "3s",
                    "confirmInterval": "1s",
                }
            },
            "prometheus": {"url": f"http://127.0.0.1:{self.lines.prometheus.port}"},
            "application": {
                "timeout": "500ms",
                **{each: f"{asked}/{each}" for each in ("ready", "stateful", "events")},
            },
            "process": {
                "bindAddress": f"127.0.0.1:{self._calls}",
                "metricsBindAddress": f"127.0.0.1:{self._pages}",
            },
        }
        self.file.write_text(json.dumps(merged(own, document)), encoding="utf-8")

    def start(self) -> None:
        """Start it; whoever needs it ready waits for that."""
        processes = self._meeting.processes
        command = [sys.executable, "-m", "springtide", "replicas", "run"]
        processes.start(self.name, [*command, f"--config={self.file}", f"--name={self.name}"])

    def kill(self) -> None:
        """End it as a machine without power would."""
        self._meeting.processes.stop(self.name, how=signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end, as a kubelet would."""
        os.kill(self.process_id, signal.SIGTERM)

    def wait(self) -> int:
        """Wait until it has ended, and return its code."""
        return self._meeting.processes.ended(self.name, limit_s=LIMIT_S)

    def freeze(self) -> None:
        """Let it stand still."""
        os.kill(self.process_id, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.process_id, signal.SIGCONT)

    def cut(self, mode: Mode = Mode.REFUSE) -> None:
        """Cut its line to etcd."""
        self._meeting.aside.loop.call_soon_threadsafe(self.lines.etcd.turn, mode)

    def heal(self) -> None:
        """Let it reach etcd again."""
        self.cut(Mode.PASS)

    def cut_metrics(self, mode: Mode) -> None:
        """Do something to its line to Prometheus."""
        self._meeting.aside.loop.call_soon_threadsafe(self.lines.prometheus.turn, mode)

    def hide(self, mode: Mode = Mode.REFUSE) -> None:
        """Do something to the line over which it is scraped."""
        self.application.is_scraped = mode is Mode.PASS
        self._meeting.aside.loop.call_soon_threadsafe(self.lines.pages.turn, mode)

    def ask(self, path: str, body: Object | None = None) -> Any:
        """Return what it answers to an operator."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.url}{path}", data=data, timeout=ANSWER_S) as answer:
            return json.load(answer)

    def status(self) -> Object:
        """Return what it shows; nothing while it does not answer."""
        try:
            found: Object = self.ask("/v1/status")
        except OSError:
            return {}
        return found

    def figure(self, name: str) -> float | None:
        """Return a metric of it that it has once; None where it is not there."""
        url = f"http://127.0.0.1:{self._pages}/metrics"
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        samples = (sample for family in families for sample in family.samples)
        return next((each.value for each in samples if each.name == name), None)

    def logged(self, event: str) -> list[Object]:
        """Return what it has logged of an event, however often it was started."""
        with self._meeting.processes.log(self.name).open(encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines if line.startswith("{")]
        return [each for each in found if each["event"] == event]


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> Object:
    """Return a document with what another one says in its places; None takes a field out."""
    found = dict(first)
    for name, value in second.items():
        here = found.get(name)
        if isinstance(here, Mapping) and isinstance(value, Mapping):
            found[name] = merged(here, value)
        else:
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def document(name: str, parts: Object) -> Object:
    """Return the configuration of a workload with short times, and with these parts of its own."""
    rooms = {
        "metric": "rooms",
        "aggregation": {"operator": "sum"},
        "thresholds": {"up": 80, "down": 60},
        "validity": {"dataAgeMax": "4s"},
    }
    head = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ReplicasConfiguration",
        "workload": {"name": name, "kind": "StatefulSet", "service": name},
        "policies": {"custom": [rooms]},
    }
    return merged(merged(head, _SHORT), parts)


_PORTS: Final = iter(range(PORT_MIN + os.getpid() % PORTS, PORT_MAX))


def _port() -> int:
    """Return a port that no connection of somebody else is given while its owner is being started again."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is no port left")

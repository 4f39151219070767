"""What becomes of pods, as the API server tells it: each change of their labels, and how they were when deleted."""

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL
from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import PODS

WATCH_S: Final = 2
GRACE_S: Final = 10

Hear = Callable[[str, Object], None]


class Labelled(msgspec.Struct, frozen=True):
    """A pod with its two labels at a moment; `is_deleted` if somebody has just deleted it."""

    pod: str
    target: str
    ready: str
    is_deleted: bool
    at_s: float

    @property
    def short(self) -> str:
        """Return it in a few letters."""
        return f"T{self.target}R{self.ready}" + (" deleted" if self.is_deleted else "")


class PodWatch:
    """Follows the pods of the namespace and keeps what changed."""

    def __init__(self, plane: ControlPlane) -> None:
        self.hears: list[Hear] = []
        self.ended = threading.Event()
        self._plane = plane
        self._last: dict[str, tuple[str, str, bool]] = {}
        self._told: list[Labelled] = []

    def told(self, prefix: str, *, since_s: float = 0.0) -> list[Labelled]:
        """Return all changes of pods whose names begin so, in their order."""
        return [each for each in self._told if each.pod.startswith(prefix) and each.at_s >= since_s]

    def deletions(self, prefix: str, *, since_s: float = 0.0) -> list[Labelled]:
        """Return who was deleted, with the labels of that moment."""
        return [each for each in self.told(prefix, since_s=since_s) if each.is_deleted]

    def follow(self) -> None:
        """Follow until told to end."""
        listed = self._plane.ask("GET", PODS)
        for each in listed["items"]:
            self._take("ADDED", each)
        version = listed["metadata"]["resourceVersion"]
        while not self.ended.is_set():
            for kind, pod in self._stream(version):
                version = pod["metadata"]["resourceVersion"]
                self._take(kind, pod)

    def _stream(self, version: str) -> Iterator[tuple[str, Object]]:
        query = f"watch=1&timeoutSeconds={WATCH_S}&resourceVersion={version}"
        request = urllib.request.Request(
            f"{self._plane.url}{PODS}?{query}", headers={"Authorization": "Bearer admin-token"}
        )
        with urllib.request.urlopen(
            request, context=self._plane.trust, timeout=WATCH_S + GRACE_S
        ) as lines:
            for line in lines:
                event: dict[str, Any] = json.loads(line)
                assert event["type"] != "ERROR", event
                yield event["type"], event["object"]

    def _take(self, kind: str, pod: Object) -> None:
        metadata = pod["metadata"]
        labels = metadata.get("labels", {})
        now = (
            labels.get(TARGET_LABEL, ""),
            labels.get(READY_LABEL, ""),
            "deletionTimestamp" in metadata,
        )
        if kind != "DELETED" and self._last.get(metadata["uid"]) != now:
            self._last[metadata["uid"]] = now
            self._told.append(Labelled(metadata["name"], *now, time.monotonic()))
        for hear in self.hears:
            hear(kind, pod)


@contextmanager
def watching(plane: ControlPlane) -> Iterator[PodWatch]:
    """Follow pods as long as the block; who follows must not have failed."""
    found = PodWatch(plane)
    thread = threading.Thread(target=found.follow)
    thread.start()
    try:
        yield found
        assert thread.is_alive(), "nobody has watched"
    finally:
        found.ended.set()
        thread.join()

"""What an application says of its load, policy by policy, each time that somebody collects.

An observer is a plain function that reads and returns: a number, or several with labels of their own. It is
called in the thread that collects and must not wait; one that has to belongs to `is_blocking=True`, which lets
it run in a thread and shows what it said last. What is no number, fails or takes too long is skipped and
counted, and makes nobody else wait.
"""

import inspect
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from springtide.base.clock import Clock
from springtide.engine.replicas.names import label_name

OBSERVERS_MAX: Final = 256
"""So many observers there may be."""
SERIES_MAX: Final = 100
"""So many sets of labels one policy may ever have in one process; Prometheus keeps each of them."""
LABELS_MAX: Final = 8
OBSERVE_S_MAX: Final = 1.0
"""An observer that takes longer has its sample skipped."""
STALE_S_MAX: Final = 60.0
"""So old may be what a blocking observer said last."""
_NO_INTEGER: Final = -(2**63)
"""How others write that there is no number."""

Labels: TypeAlias = tuple[tuple[str, str], ...]


class Observed(msgspec.Struct, frozen=True):
    """One value with labels of its own."""

    value: int | float
    labels: Mapping[str, str] = {}


Saying: TypeAlias = int | float | Iterable[Observed] | None
Observe: TypeAlias = Callable[[], Saying]
Spawn: TypeAlias = Callable[[Callable[[], None]], None]


def in_thread(work: Callable[[], None]) -> None:
    """Do it in a thread that holds up no end of the process."""
    threading.Thread(target=work, name="springtide-observer", daemon=True).start()


class _Skip(Exception):
    """There is no sample to show, and why."""


class _Observer(msgspec.Struct, eq=False):
    function: Observe
    labels: Labels
    is_blocking: bool
    is_running: bool = False
    said: tuple[float, list[tuple[Labels, float]]] | None = None


class Observers:
    """The observers of one process; safe in any thread."""

    def __init__(self, clock: Clock, *, spawn: Spawn = in_thread) -> None:
        self._clock = clock
        self._spawn = spawn
        self._lock = threading.Lock()
        self._observers: dict[str, dict[Labels, _Observer]] = {}
        self._series: dict[str, set[Labels]] = {}
        self._skipped: Counter[tuple[str, str]] = Counter()

    def add(
        self,
        policy: str,
        function: Observe,
        *,
        labels: Mapping[str, str] | None = None,
        is_blocking: bool = False,
    ) -> Callable[[], None]:
        """Show what it says as this policy's metric; the answer ends that.

        One policy has one observer for the same labels: a later one takes the place of an earlier one, so that it may
        be added anew after each reload.
        """
        if inspect.iscoroutinefunction(function):
            raise ValueError(
                f"The observer of {policy} is a coroutine function; write a plain one that reads "
                "what is known and returns at once."
            )
        key = _labels(labels or {}, policy)
        observer = _Observer(function, key, is_blocking)
        with self._lock:
            before = self._observers.get(policy, {})
            count = sum(len(each) for each in self._observers.values())
            if key not in before and count >= OBSERVERS_MAX:
                raise ValueError(f"There are {OBSERVERS_MAX} observers already; end some first.")
            self._observers[policy] = {**before, key: observer}

        def end() -> None:
            with self._lock:
                kept = self._observers.get(policy, {})
                if kept.get(key) is observer:
                    self._observers[policy] = {k: v for k, v in kept.items() if k != key}

        return end

    def has(self, policy: str) -> bool:
        """Return whether somebody observes this policy."""
        return bool(self._observers.get(policy))

    def skipped(self) -> dict[tuple[str, str], int]:
        """Return how many samples were skipped, by policy and why."""
        with self._lock:
            return dict(self._skipped)

    def samples(self, policy: str) -> list[tuple[Labels, float]]:
        """Return what is observed of a policy now, each set of labels once."""
        found: dict[Labels, float] = {}
        for each in list(self._observers.get(policy, {}).values()):
            try:
                said = self._last(policy, each) if each.is_blocking else self._ask(policy, each)
            except _Skip as skip:
                self._skip(policy, str(skip))
                continue
            for labels, value in said:
                if labels not in found and self._may_show(policy, labels):
                    found[labels] = value
                else:
                    self._skip(policy, "refused")
        return list(found.items())

    def _ask(self, policy: str, observer: _Observer) -> list[tuple[Labels, float]]:
        began_s = self._clock.monotonic_s()
        try:
            said = _read(observer, policy)
        except Exception as fault:
            raise _Skip("failed") from fault
        if self._clock.monotonic_s() - began_s > OBSERVE_S_MAX:
            raise _Skip("slow")
        return said

    def _last(self, policy: str, observer: _Observer) -> list[tuple[Labels, float]]:
        """Return what it said last, and let it speak again."""
        with self._lock:
            is_first, observer.is_running = not observer.is_running, True
        if is_first:
            self._spawn(lambda: self._work(policy, observer))
        said = observer.said
        if said is not None and self._clock.monotonic_s() - said[0] <= STALE_S_MAX:
            return said[1]
        if is_first:
            return []
        raise _Skip("slow")

    def _work(self, policy: str, observer: _Observer) -> None:
        try:
            observer.said = (self._clock.monotonic_s(), _read(observer, policy))
        except Exception:  # noqa: BLE001 - whatever the application raises, it said nothing
            observer.said = None
            self._skip(policy, "failed")
        finally:
            observer.is_running = False

    def _may_show(self, policy: str, labels: Labels) -> bool:
        with self._lock:
            known = self._series.setdefault(policy, set())
            if labels in known:
                return True
            if len(known) >= SERIES_MAX:
                return False
            known.add(labels)
            return True

    def _skip(self, policy: str, why: str) -> None:
        with self._lock:
            self._skipped[policy, why] += 1


def _read(observer: _Observer, policy: str) -> list[tuple[Labels, float]]:
    """Return what it says, without what is no number; raises what it raises."""
    said = observer.function()
    if said is None:
        return []
    if inspect.iscoroutine(said):
        said.close()
        raise TypeError(f"The observer of {policy} has to return a number, and not wait.")
    if isinstance(said, int | float):
        said = (Observed(said),)
    # One more than may be is enough to see that there are too many.
    return [
        (_labels({**dict(observer.labels), **each.labels}, policy), float(each.value))
        for each in islice(said, SERIES_MAX + 1)
        if _is_number(each.value)
    ]


def _is_number(value: float) -> bool:
    return value != _NO_INTEGER and not math.isnan(value)


def _labels(labels: Mapping[str, str], policy: str) -> Labels:
    if len(labels) > LABELS_MAX:
        raise ValueError(
            f"The observer of {policy} has {len(labels)} labels; {LABELS_MAX} are the most."
        )
    return tuple(sorted((label_name(name), str(value)) for name, value in labels.items()))

"""Events on pods, without floods: what happens again to a pod within a minute is counted, not repeated.

What was told before is remembered for a bounded number of pods and reasons; who is forgotten gets a new
event, which is all the harm there is.
"""

from collections import OrderedDict
from datetime import UTC, datetime
from typing import Final

import msgspec

from springtide.engine.live import RecordEvent
from springtide.model.occurrence import Occurrence, Regarding

QUIET_S: Final = 60.0
"""So long nothing is said again about a pod for the same reason."""
REMEMBERED_MAX: Final = 16384


class Say(msgspec.Struct, frozen=True):
    """An event to be written; `is_new` says that it has to be created."""

    occurrence: Occurrence
    is_new: bool


class _Said(msgspec.Struct):
    occurrence: Occurrence
    told_s: float


class Occurrences:
    """What was said, and what is to be said next."""

    def __init__(self, component: str) -> None:
        self._component = component
        self._said: OrderedDict[tuple[str, str, str], _Said] = OrderedDict()

    def note(self, event: RecordEvent, *, now_s: float) -> Say | None:
        """Return what to write about this, None if it was said just now."""
        key = (event.uid, event.reason, event.message)
        known = self._said.get(key)
        if known is None:
            return self._begin(key, event, now_s=now_s)
        self._said.move_to_end(key)
        again = msgspec.structs.replace(
            known.occurrence, count=known.occurrence.count + 1, last=_text(now_s)
        )
        known.occurrence = again
        if now_s - known.told_s < QUIET_S:
            return None
        known.told_s = now_s
        return Say(again, is_new=False)

    def _begin(self, key: tuple[str, str, str], event: RecordEvent, *, now_s: float) -> Say:
        occurrence = Occurrence(
            # As client-go names them: unique, because no two are of the same nanosecond.
            name=f"{event.name}.{int(now_s * 1e9):x}{len(self._said) & 0xFF:02x}",
            namespace=event.namespace,
            regarding=Regarding(
                kind="Pod", name=event.name, namespace=event.namespace, uid=event.uid
            ),
            reason=event.reason,
            message=event.message,
            component=self._component,
            first=_text(now_s),
            last=_text(now_s),
            is_warning=event.is_warning,
        )
        self._said[key] = _Said(occurrence, now_s)
        if len(self._said) > REMEMBERED_MAX:
            self._said.popitem(last=False)
        return Say(occurrence, is_new=True)


def _text(now_s: float) -> str:
    return datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

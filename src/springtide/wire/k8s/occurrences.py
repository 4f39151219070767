"""Events of the core API, as `kubectl describe` shows them beside an object."""

from typing import Any

from springtide.model.occurrence import Occurrence

MESSAGE_BYTES_MAX = 1024
"""More the API refuses."""


def event_object(occurrence: Occurrence) -> dict[str, Any]:
    """Return the Event object."""
    about = occurrence.regarding
    involved = {
        "apiVersion": about.api_version,
        "kind": about.kind,
        "name": about.name,
        "namespace": about.namespace,
        "uid": about.uid,
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": occurrence.name, "namespace": occurrence.namespace},
        "involvedObject": {key: value for key, value in involved.items() if value},
        "reason": occurrence.reason,
        "type": "Warning" if occurrence.is_warning else "Normal",
        "source": {"component": occurrence.component},
        "reportingComponent": occurrence.component,
        "firstTimestamp": occurrence.first,
        **event_changes(occurrence),
    }


def event_changes(occurrence: Occurrence) -> dict[str, Any]:
    """Return what changes when it happens again."""
    return {
        "message": _short(occurrence.message),
        "count": occurrence.count,
        "lastTimestamp": occurrence.last,
    }


def _short(message: str) -> str:
    data = message.encode()
    if len(data) <= MESSAGE_BYTES_MAX:
        return message
    return data[: MESSAGE_BYTES_MAX - 3].decode(errors="ignore") + "…"

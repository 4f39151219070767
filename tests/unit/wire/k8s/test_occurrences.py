"""Events as the API takes them."""

import msgspec

from springtide.model.occurrence import Occurrence, Regarding
from springtide.wire.k8s.occurrences import MESSAGE_BYTES_MAX, event_changes, event_object

OCCURRENCE = Occurrence(
    name="p.1",
    namespace="t",
    regarding=Regarding(kind="Pod", namespace="t", name="p", uid="u"),
    reason="FilteringFailed",
    message="Nothing fits.",
    component="springtide",
    first="2026-11-30T20:00:00Z",
    last="2026-11-30T20:01:00Z",
    count=2,
)


def test_an_event_is_about_an_object() -> None:
    event = event_object(OCCURRENCE)

    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "p",
        "namespace": "t",
        "uid": "u",
    }
    assert (event["type"], event["count"]) == ("Normal", 2)
    assert (event["firstTimestamp"], event["lastTimestamp"]) == (OCCURRENCE.first, OCCURRENCE.last)


def test_a_message_is_as_long_as_the_api_takes_it() -> None:
    exact = msgspec.structs.replace(OCCURRENCE, message="x" * MESSAGE_BYTES_MAX)
    long = msgspec.structs.replace(OCCURRENCE, message="ü" * MESSAGE_BYTES_MAX)

    short = event_changes(long)["message"]

    assert event_changes(exact)["message"] == exact.message
    assert MESSAGE_BYTES_MAX - 1 <= len(short.encode()) <= MESSAGE_BYTES_MAX
    assert short == "ü" * (len(short) - 1) + "…"

"""What an application moves its state with."""

import pytest

from springtide.replicas.migration import Draining, InFlight, Outdated, Versions


def test_a_transfer_is_taken_once_and_an_older_one_never() -> None:
    """Covers R-27 in part, F-16 in part."""
    versions = Versions()
    versions.take("lobby", 5)

    assert not versions.accepts("lobby", 5)
    assert not versions.accepts("lobby", 4)
    assert versions.accepts("lobby", 6)
    with pytest.raises(Outdated, match="lobby is known here at version 5, and version 4 came"):
        versions.take("lobby", 4)


def test_of_two_writers_who_saw_the_same_version_one_loses() -> None:
    versions = Versions({"lobby": 7})

    assert versions.write("lobby", 7) == 8
    with pytest.raises(Outdated) as refused:
        versions.write("lobby", 7)

    assert refused.value.known == 8
    assert versions.of("lobby") == 8


def test_what_is_forgotten_may_come_at_any_version() -> None:
    versions = Versions({"lobby": 7})

    versions.forget("lobby")

    assert versions.accepts("lobby", 1)


def test_whoever_holds_anything_holds_state() -> None:
    """Covers R-27 in part."""
    rooms: list[str] = []
    requests, sessions = InFlight(), InFlight()
    draining = Draining(owned=lambda: len(rooms), in_flight=requests, sessions=sessions)
    assert not draining.holds_state()

    rooms.append("lobby")
    assert draining.holds_state()
    rooms.clear()
    with requests:
        assert draining.holds_state()
    with sessions:
        assert str(draining.left()) == "0 objects, 0 requests in flight, 1 sessions"
        assert draining.holds_state()

    assert not draining.holds_state()


async def _fails(requests: InFlight) -> None:
    async with requests:
        raise LookupError


def test_a_request_that_fails_is_not_in_flight_any_more() -> None:
    requests = InFlight()
    work = _fails(requests)

    with pytest.raises(LookupError):
        work.send(None)

    assert requests.count == 0

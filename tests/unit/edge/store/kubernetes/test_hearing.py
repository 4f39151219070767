"""What is known of objects that are both watched and read, where watches are behind what was read."""

from springtide.edge.cluster import Added, Change, Deleted, Updated
from springtide.edge.store import ABSENT, LockRead
from springtide.edge.store.kubernetes.hearing import Copy
from springtide.edge.store.kubernetes.sighting import Sighting
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease

LEASE = Lease(namespace="t", name="chat", holder="a", duration_s=15, transitions=3, version="10")
FREED = Lease(namespace="t", name="chat", duration_s=1, transitions=3, version="12")


def config(version: str, uid: str = "u") -> ConfigMap:
    """Return a state of the object."""
    return ConfigMap(namespace="t", name="m", uid=uid, version=version)


def heard(version: str, uid: str = "u") -> Change[ConfigMap]:
    """Return what a watch tells of this state."""
    return Updated(key="t/m", uid=uid, version=version, record=config(version, uid))


def test_a_watch_that_is_behind_what_was_read_changes_nothing() -> None:
    copy = Copy()
    copy.hear(heard("7"))
    copy.read(config("9"), changes_before=copy.changes)

    copy.hear(heard("8"))
    assert copy.config == config("9")
    copy.hear(heard("10"))
    assert copy.config == config("10")


def test_what_was_read_changes_nothing_where_something_newer_was_heard_meanwhile() -> None:
    copy = Copy()
    copy.hear(heard("7"))
    before = copy.changes
    copy.hear(heard("9"))

    copy.read(config("8"), changes_before=before)
    assert copy.config == config("9")
    copy.read(None, changes_before=before)
    assert copy.config == config("9")
    copy.read(config("10"), changes_before=before)
    assert copy.config == config("10")


def test_what_was_read_counts_also_where_a_server_has_gone_back() -> None:
    copy = Copy()
    copy.hear(heard("700"))

    copy.read(config("8"), changes_before=copy.changes)
    assert copy.config == config("8")


def test_an_object_that_was_made_anew_is_not_behind_the_one_before_it() -> None:
    copy = Copy()
    copy.hear(heard("700"))
    copy.hear(heard("8", uid="v"))
    assert copy.config == config("8", uid="v")

    copy.hear(Deleted("t/m", "u"))
    assert copy.config == config("8", uid="v")
    copy.hear(Deleted("t/m", "v"))
    assert copy.config is None


def test_a_lease_that_is_heard_late_is_not_taken_for_the_latest() -> None:
    sighting = Sighting()
    sighting.see(FREED, 1.0)

    sighting.hear(LEASE, 2.0)
    assert sighting.read(2.0) == LockRead(ABSENT)
    assert sighting.is_free(2.0)


def test_a_lease_is_free_when_it_was_not_seen_to_change_for_its_duration() -> None:
    sighting = Sighting()
    assert sighting.is_free(0.0)
    sighting.hear(LEASE, 1.0)
    sighting.hear(LEASE, 5.0)

    assert sighting.read(15.9) == LockRead(3, "a")
    assert sighting.read(16.0) == LockRead(ABSENT)
    sighting.hear(None, 17.0)
    assert sighting.ends_s is None


def test_whoever_holds_a_lease_without_counting_has_a_token() -> None:
    sighting = Sighting()
    sighting.see(Lease(namespace="t", name="chat", holder="x", duration_s=15), 0.0)

    assert sighting.read(1.0) == LockRead(1, "x")


def test_an_object_is_known_from_the_first_time_that_it_is_heard() -> None:
    copy = Copy()

    copy.hear(Added(key="t/m", uid="u", version="7", record=config("7")))
    assert (copy.config, copy.changes) == (config("7"), 1)

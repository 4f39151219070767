"""Leading beside a kube-scheduler, event by event."""

import pytest
from msgspec.structs import replace

from springtide.engine.election import Beside, LeaseSeen, Led, Lost, Tick, WakeAt
from springtide.engine.election.following import step
from springtide.model.lease import Lease

LEASE = Lease(
    namespace="kube-system",
    name="kube-scheduler",
    holder="host-1_0b5f",
    duration_s=15,
    transitions=3,
    version="1",
)
BESIDE = Beside(host="host-1")


@pytest.mark.parametrize(
    ("holder", "leads"),
    [
        ("host-1_0b5f", True),
        ("host-1", True),
        ("host-10_0b5f", False),
        ("", False),
        ("host", False),
    ],
)
def test_only_the_host_of_the_holder_leads(holder: str, *, leads: bool) -> None:
    state, _ = step(BESIDE, LeaseSeen(replace(LEASE, holder=holder), 100.0))

    assert state.leads is leads
    assert state.is_leading(114.9) is leads
    assert not state.is_leading(115.0)


def test_leading_is_told_once() -> None:
    state, first = step(BESIDE, LeaseSeen(LEASE, 100.0))
    state, again = step(state, LeaseSeen(replace(LEASE, renewed="x", version="2"), 110.0))

    assert first == (Led(3), WakeAt(115.0))
    assert again == (WakeAt(125.0),)


def test_the_same_lease_seen_again_is_no_younger() -> None:
    state, _ = step(BESIDE, LeaseSeen(LEASE, 100.0))
    _, commands = step(state, LeaseSeen(LEASE, 115.0))

    assert commands == (Lost("No longer the leader: kube-scheduler has not renewed its lease."),)


def test_a_lease_that_runs_out_ends_it() -> None:
    state, _ = step(BESIDE, LeaseSeen(LEASE, 100.0))
    _, early = step(state, Tick(114.0))
    _, late = step(state, Tick(115.0))

    assert early == (WakeAt(115.0),)
    assert late == (Lost("No longer the leader: kube-scheduler has not renewed its lease."),)


def test_another_holder_or_none_ends_it() -> None:
    state, _ = step(BESIDE, LeaseSeen(LEASE, 100.0))
    _, other = step(state, LeaseSeen(replace(LEASE, holder="host-2_1"), 101.0))
    _, deleted = step(state, LeaseSeen(None, 101.0))

    assert other == (Lost("No longer the leader: host-2_1 holds kube-scheduler's lease."),)
    assert deleted == (Lost("No longer the leader: the lease of kube-scheduler was deleted."),)

"""Lease objects as records and back."""

import msgspec
import pytest

from springtide.model.lease import Lease
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.leases import decode_lease, lease_object

LEASE = Lease(
    namespace="n",
    name="l",
    holder="me",
    duration_s=15,
    acquired="2026-11-30T20:00:00.000000Z",
    renewed="2026-11-30T20:00:02.000000Z",
    transitions=3,
    version="7",
)


def test_a_lease_comes_back_as_it_was() -> None:
    assert decode_lease(msgspec.json.encode(lease_object(LEASE))) == LEASE


def test_an_empty_office_has_nulls() -> None:
    data = b'{"metadata":{"name":"l"},"spec":{"holderIdentity":null,"renewTime":null}}'

    assert decode_lease(data) == Lease(namespace="", name="l")


def test_what_is_empty_is_not_written() -> None:
    written = lease_object(Lease(namespace="n", name="l", transitions=0))

    assert written["metadata"] == {"name": "l", "namespace": "n"}
    assert written["spec"] == {"leaseTransitions": 0}


@pytest.mark.parametrize(
    "data", [b"{}", b'{"metadata":{"name":"l"},"spec":{"leaseTransitions":"x"}}']
)
def test_what_is_no_lease_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedObject):
        decode_lease(data)

"""What etcd's words and codes mean, of its older and newer versions alike."""

import pytest

from springtide.edge.store import Denied, Malformed, StoreFault, Unreachable
from springtide.edge.store.etcd.refusals import LeaseGone, Unknown, WithoutAuth, fault, told


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b'{"error":"etcdserver: invalid auth token","code":16}', Unknown),
        (400, b'{"code":3,"message":"etcdserver: user name is empty","details":[]}', Unknown),
        (400, b'{"message":"etcdserver: revision of auth store is old"}', Unknown),
        (404, b'{"message":"etcdserver: requested lease not found"}', LeaseGone),
        (400, b'{"message":"etcdserver: authentication is not enabled"}', WithoutAuth),
        (403, b'{"message":"etcdserver: permission denied"}', Denied),
        (400, b'{"message":"authentication failed, invalid user ID or password"}', Denied),
        (403, b'{"message":"not here"}', Denied),
        (400, b'{"message":"etcdserver: key is not provided"}', Malformed),
        (503, b'{"message":"etcdserver: no leader"}', Unreachable),
        (429, b'{"message":"etcdserver: too many requests"}', Unreachable),
        (500, b'{"message":"etcdserver: corrupt cluster"}', Unreachable),
        (404, b"<html>", Malformed),
        (200, b"", Unreachable),
        (502, b"<html>", Unreachable),
    ],
)
def test_what_is_not_done_has_a_kind(status: int, body: bytes, kind: type[StoreFault]) -> None:
    assert type(fault(status, body, "/v3/kv/txn", has_user=True)) is kind


def test_who_names_no_user_is_told_to() -> None:
    found = told("etcdserver: user name is empty", has_user=False)

    assert type(found) is Denied
    assert "Give user and passwordFile" in str(found)

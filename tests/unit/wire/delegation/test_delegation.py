"""What an aggregated API server takes over from the API server, and what it asks."""

import json
from typing import Any, Final

import pytest

from springtide.wire.delegation import (
    Attributes,
    FrontProxy,
    User,
    access_review,
    read_access_review,
    read_front_proxy,
    read_token_review,
    token_review,
    user_of_headers,
)
from springtide.wire.errors import MalformedObject

AUTHORITY: Final = "-----BEGIN CERTIFICATE-----"


def front_proxy(**data: str) -> FrontProxy:
    """Return what a ConfigMap with these entries says."""
    keys = {f"requestheader-{key.replace('_', '-')}": text for key, text in data.items()}
    found = read_front_proxy(
        json.dumps({"data": {"requestheader-client-ca-file": AUTHORITY, **keys}}).encode()
    )
    assert found is not None
    return found


def certificate(name: str) -> dict[str, Any]:
    """Return a certificate as `ssl` tells it."""
    return {"subject": ((("organizationName", "x"),), (("commonName", name),))}


def test_what_the_config_map_does_not_say_is_as_everywhere() -> None:
    found = front_proxy()

    assert found.user_headers == ("x-remote-user",)
    assert found.allows(certificate("anything"))


def test_only_allowed_names_count() -> None:
    found = front_proxy(allowed_names='["front"]')

    assert found.allows(certificate("front"))
    assert not found.allows(certificate("other"))
    assert not found.allows({})


def test_a_cluster_may_have_no_front_proxy() -> None:
    assert read_front_proxy(b'{"data":{}}') is None


UNREADABLE: Final = (
    b"{",
    b'{"data":[]}',
    b'{"data":{"requestheader-client-ca-file":"x","requestheader-allowed-names":"front"}}',
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_config_map_that_cannot_be_read_is_told(text: bytes) -> None:
    with pytest.raises(MalformedObject):
        read_front_proxy(text)


def test_headers_say_for_whom_it_is() -> None:
    headers = [
        (b"X-Remote-User", b"hpa"),
        (b"x-remote-group", b"a"),
        (b"x-remote-group", b"b"),
        (b"x-remote-extra-scopes%2fof", b"one"),
        (b"x-remote-extra-scopes%2Fof", b"two"),
        (b"x-remote-uid", b"7"),
        (b"x-other", b"z"),
    ]

    found = user_of_headers(front_proxy(), headers)

    assert found is not None
    assert (found.name, found.uid, found.groups) == ("hpa", "7", ("a", "b"))
    assert dict(found.extra)["scopes/of"]
    assert user_of_headers(front_proxy(), [(b"x-remote-group", b"system:masters")]) is None


@pytest.mark.parametrize(
    ("user", "groups"),
    [
        (User(name="a"), ("system:authenticated",)),
        (User(name="a", groups=("b",)), ("b", "system:authenticated")),
        (User(name="a", groups=("system:authenticated",)), ("system:authenticated",)),
        (User(name="a", groups=("system:unauthenticated",)), ("system:unauthenticated",)),
        (User(name="system:anonymous"), ()),
    ],
)
def test_who_is_known_is_in_the_group_of_those_who_are(user: User, groups: tuple[str, ...]) -> None:
    assert user.as_known().groups == groups


def test_a_token_is_somebody_s_only_if_it_is_said() -> None:
    user = {"username": "a", "uid": "1", "groups": ["g"], "extra": {"k": ["v"]}}
    good = json.dumps({"status": {"authenticated": True, "user": user}}).encode()

    assert token_review("t")["spec"] == {"token": "t"}
    assert read_token_review(good) == User(name="a", uid="1", groups=("g",), extra=(("k", ("v",)),))
    assert read_token_review(b"{}") is None
    assert read_token_review(b'{"status":{"authenticated":true}}') is None
    with pytest.raises(MalformedObject):
        read_token_review(b"[")


def test_a_right_is_asked_for_with_all_that_is_known_of_the_user() -> None:
    user = User(name="a", uid="1", groups=("g",), extra=(("k", ("v",)),))

    page = access_review(user, Attributes(verb="get", path="/apis"))["spec"]
    value = access_review(user, Attributes(verb="get", group="x", resource="m"))["spec"]

    assert page == {
        "user": "a", "uid": "1", "groups": ["g"], "extra": {"k": ["v"]},
        "nonResourceAttributes": {"path": "/apis", "verb": "get"},
    }  # fmt: skip
    assert value["resourceAttributes"] == {"verb": "get", "group": "x", "resource": "m"}


@pytest.mark.parametrize(
    ("status", "is_allowed"),
    [
        ({"allowed": True}, True),
        ({"allowed": True, "denied": True}, False),
        ({"allowed": False}, False),
        ({}, False),
    ],
)
def test_only_yes_is_yes(status: dict[str, bool], *, is_allowed: bool) -> None:
    found = read_access_review(json.dumps({"status": status}).encode())

    assert found.is_allowed is is_allowed

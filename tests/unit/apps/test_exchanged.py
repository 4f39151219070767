"""Bodies of calls as they are told: whole, but for what may be secret."""

import json

import pytest

from springtide.apps.planner.exchanged import LEFT_OUT, NOT_JSON, shown, without_password


def seen(value: object) -> object:
    """The value as it is told."""
    return json.loads(shown(json.dumps(value).encode()))


def test_what_is_no_secret_stays() -> None:
    body = {"Pod": {"metadata": {"name": "p"}, "spec": {"nodeName": None}}, "NodeNames": ["a", "b"]}

    assert seen(body) == body


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"env": [{"name": "A", "value": "x"}]}, {"env": [{"name": "A", "value": LEFT_OUT}]}),
        ({"env": [{"name": "A", "valueFrom": {}}]}, {"env": [{"name": "A", "valueFrom": {}}]}),
        ({"args": ["--token=x"], "command": []}, {"args": LEFT_OUT, "command": []}),
        (
            {"httpHeaders": [{"name": "Authorization", "value": "x"}]},
            {"httpHeaders": [{"name": "Authorization", "value": LEFT_OUT}]},
        ),
        (
            {"kubectl.kubernetes.io/last-applied-configuration": "x"},
            {"kubectl.kubernetes.io/last-applied-configuration": LEFT_OUT},
        ),
    ],
)
def test_what_may_be_secret_is_left_out_wherever_it_stands(given: object, told: object) -> None:
    assert seen([{"spec": [given]}]) == [{"spec": [told]}]


@pytest.mark.parametrize("body", [b"{", b"\xff", b"password: x", b"[" * 100_000])
def test_what_cannot_be_taken_apart_is_not_told(body: bytes) -> None:
    assert shown(body) == NOT_JSON


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://me:secret@a.example:80/filter", "http://a.example:80/filter"),
        ("http://a.example/x@y", "http://a.example/x@y"),
    ],
)
def test_addresses_are_told_without_passwords(url: str, told: str) -> None:
    assert without_password(url) == told

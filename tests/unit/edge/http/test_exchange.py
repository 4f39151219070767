"""Calls to a real server: what comes back, what goes wrong, and that no call outlasts its time."""

import gzip

import pytest

from springtide.edge.http import (
    CONCURRENCY_MAX,
    Exchange,
    HttpFault,
    Refused,
    Server,
    TimedOut,
    TooLarge,
    Unreachable,
)
from tests.serving import Body, Extender, Reply, serving

LONG_S = 20.0
SHORT_S = 0.05
OK = Reply(body=b"{}")


def post(
    extender: Extender, *bodies: bytes, timeout_s: float = LONG_S, size_max: int = 1 << 20
) -> list[bytes | HttpFault]:
    server = Server(url=f"{extender.url}/filter", response_bytes_max=size_max)
    with Exchange(server) as exchange:
        return exchange.post_all(bodies or (b"{}",), timeout_s=timeout_s)


def test_bodies_are_posted_as_json_and_answered_in_order() -> None:
    with serving(lambda _path, request: {"got": request["n"]}) as extender:
        answers = post(extender, *(b'{"n": %d}' % n for n in range(9)))

    assert answers == [b'{"got": %d}' % n for n in range(9)]
    assert {path for path, _ in extender.asked} == {"/filter"}
    assert extender.headers[0]["Content-Type"] == "application/json"
    assert extender.headers[0]["Accept-Encoding"] == "gzip"


def test_connections_are_kept_and_bounded() -> None:
    with serving(lambda *_: OK) as extender:
        server = Server(url=extender.url)
        with Exchange(server) as exchange:
            for _ in range(3):
                exchange.post_all([b"{}"] * 10, timeout_s=LONG_S)

    assert len(extender.asked) == 30
    assert extender.connections <= CONCURRENCY_MAX


def test_a_packed_answer_is_unpacked() -> None:
    packed = Reply(body=gzip.compress(b'{"a": 1}'), headers=(("Content-Encoding", "gzip"),))

    with serving(lambda *_: packed) as extender:
        answers = post(extender)

    assert answers == [b'{"a": 1}']


@pytest.mark.parametrize("status", [201, 204, 301, 307, 400, 404, 500, 503])
def test_any_other_status_than_200_refuses_and_redirects_are_not_followed(status: int) -> None:
    def answer(path: str, _request: Body) -> Reply:
        if path == "/elsewhere":
            return OK
        return Reply(status=status, headers=(("Location", "/elsewhere"),))

    with serving(answer) as extender:
        (fault,) = post(extender)

    assert isinstance(fault, Refused)
    assert fault.status == status
    assert [path for path, _ in extender.asked] == ["/filter"]


@pytest.mark.parametrize("reply", [Reply(hangs=True), Reply(body=b"x" * 1000, trickles=True)])
def test_a_call_ends_when_its_time_is_up_whatever_the_server_does(reply: Reply) -> None:
    with serving(lambda *_: reply) as extender:
        (fault,) = post(extender, timeout_s=SHORT_S)

    assert isinstance(fault, TimedOut)
    assert str(fault) == f'Post "{extender.url}/filter": no answer within 0.05 s'


def test_one_call_that_fails_does_not_take_others_along() -> None:
    def answer(_path: str, request: Body) -> Reply:
        return Reply(status=500) if request["bad"] else OK

    with serving(answer) as extender:
        answers = post(extender, b'{"bad": true}', b'{"bad": false}')

    assert isinstance(answers[0], Refused)
    assert answers[1] == b"{}"


def test_an_answer_that_breaks_off_is_asked_for_once_more() -> None:
    replies = iter([Reply(body=b'{"a"', cuts=True), OK])

    with serving(lambda *_: next(replies)) as extender:
        answers = post(extender)

    assert answers == [b"{}"]


def test_an_answer_that_breaks_off_again_is_a_fault() -> None:
    with serving(lambda *_: Reply(body=b'{"a"', cuts=True)) as extender:
        (fault,) = post(extender)

    assert isinstance(fault, Unreachable)
    assert len(extender.asked) == 2


@pytest.mark.parametrize("is_packed", [True, False])
def test_an_answer_that_is_too_large_is_not_read(*, is_packed: bool) -> None:
    data = b" " * (3 << 20)
    packed = Reply(body=gzip.compress(data), headers=(("Content-Encoding", "gzip"),))

    with serving(lambda *_: packed if is_packed else Reply(body=data)) as extender:
        (fault,) = post(extender)

    assert isinstance(fault, TooLarge)
    assert "larger than 1 MiB" in str(fault)


def test_what_is_announced_as_packed_and_is_not_is_a_fault() -> None:
    reply = Reply(body=b"{}", headers=(("Content-Encoding", "gzip"),))

    with serving(lambda *_: reply) as extender:
        (fault,) = post(extender)

    assert isinstance(fault, Unreachable)


def test_nobody_there_is_told_in_the_words_of_the_system() -> None:
    with serving(lambda *_: OK) as extender:
        pass

    (fault,) = post(extender)

    assert isinstance(fault, Unreachable)
    assert str(fault) == f'Post "{extender.url}/filter": Connection refused'


@pytest.mark.parametrize("url", ["", "extender/filter", "ftp://h/filter", "http://", "http://[::1"])
def test_an_address_that_is_none_is_a_fault(url: str) -> None:
    with Exchange(Server(url=url)) as exchange:
        (fault,) = exchange.post_all([b"{}"], timeout_s=LONG_S)

    assert isinstance(fault, Unreachable)

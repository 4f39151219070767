"""What is sent for each thing that can be done in a cluster, and what becomes of each refusal."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from springtide.edge.cluster import (
    PODS,
    AlreadyThere,
    BudgetSpent,
    ClusterFault,
    Conflict,
    Denied,
    Failing,
    Gone,
    Invalid,
    Kind,
    Malformed,
    Metadata,
    NotFound,
    Throttled,
    TimedOut,
    Unknown,
    Unreachable,
    node,
    pod,
    raw,
)
from springtide.edge.kube import KubeCluster, Waiting
from springtide.model.lease import Lease
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.single import decode_pod
from tests.kubeapi import Asked, Direct, KubeApi, Reply, status
from tests.objectstore import ObjectStore, Refused
from tests.virtual import LoopClock, run
from tests.world import FirstRng

POD = pod("t", "p", uid="u", version="7")


class Sending:
    """A cluster, and what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self.api = KubeApi(ObjectStore())
        self.api.scripted = [("/", reply) for reply in replies]
        waiting = Waiting(clock=LoopClock(), rng=FirstRng(), pause=asyncio.sleep)
        self.cluster = KubeCluster(Direct(self.api), waiting=waiting)

    def ask(self, act: Callable[[KubeCluster], Awaitable[Any]]) -> Any:
        """Have something done, and return what came of it."""

        async def whole() -> Any:
            return await act(self.cluster)

        return run(whole())

    @property
    def sent(self) -> Asked:
        """Return the one request."""
        (asked,) = self.api.asked
        return asked


def refusal(code: int, reason: str = "", *, cause: str = "", retry_after: str = "") -> Reply:
    return status(Refused(code, reason, "so it is.", cause=cause), retry_after=retry_after)


def test_a_patch_names_what_it_may_be_applied_to() -> None:
    sending = Sending(Reply(body=b'{"metadata":{"name":"p","resourceVersion":"8"}}'))
    change = Metadata(annotations={"a": "1", "b": None}, labels={"l": "2"})

    version = sending.ask(lambda cluster: cluster.patch(POD, change))

    assert version == "8"
    assert (sending.sent.method, sending.sent.path) == ("PATCH", "/api/v1/namespaces/t/pods/p")
    assert sending.sent.body == {
        "metadata": {
            "annotations": {"a": "1", "b": None},
            "labels": {"l": "2"},
            "uid": "u",
            "resourceVersion": "7",
        }
    }


def test_what_is_not_said_is_not_patched() -> None:
    sending = Sending(Reply(body=b"{}"))

    sending.ask(lambda cluster: cluster.patch(node("n"), Metadata(annotations={"a": "1"})))

    assert sending.sent.path == "/api/v1/nodes/n"
    assert sending.sent.body == {"metadata": {"annotations": {"a": "1"}}}


def test_a_binding_and_an_eviction_are_for_one_pod() -> None:
    binding, eviction = Sending(Reply(status=201)), Sending(Reply(status=201))

    binding.ask(lambda cluster: cluster.bind(POD, "n"))
    eviction.ask(lambda cluster: cluster.evict(POD))

    assert (binding.sent.method, binding.sent.path) == (
        "POST",
        "/api/v1/namespaces/t/pods/p/binding",
    )
    assert binding.sent.body["target"]["name"] == "n"
    assert binding.sent.body["metadata"]["uid"] == "u"
    assert eviction.sent.path == "/api/v1/namespaces/t/pods/p/eviction"
    assert eviction.sent.body["deleteOptions"]["preconditions"] == {
        "uid": "u",
        "resourceVersion": "7",
    }


def test_a_deletion_may_say_how_much_time_there_is() -> None:
    gentle, hard = Sending(Reply()), Sending(Reply())

    gentle.ask(lambda cluster: cluster.delete(POD))
    hard.ask(lambda cluster: cluster.delete(POD, grace_s=0))

    assert "gracePeriodSeconds" not in gentle.sent.body
    assert hard.sent.body["gracePeriodSeconds"] == 0
    assert hard.sent.body["preconditions"] == {"uid": "u", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("reply", "fault", "words"),
    [
        (refusal(400, "BadRequest"), Invalid, "Pod t/p: so it is. Look at its admission"),
        (refusal(401, "Unauthorized"), Unknown, "who is asking: so it is. Log in again"),
        (refusal(403, "Forbidden"), Denied, "refuses Pod t/p: so it is"),
        (refusal(404, "NotFound"), NotFound, "no Pod t/p: so it is. Let go of it"),
        (refusal(409, "Conflict"), Conflict, "Pod t/p is not as it was: so it is. Read it again"),
        (refusal(409, "AlreadyExists"), AlreadyThere, "Pod t/p exists already: so it is"),
        (refusal(410, "Gone"), Gone, "Pod t/p is no longer there"),
        (refusal(418), Malformed, "Code 418 is no answer to Pod t/p: so it is"),
        (refusal(422, "Invalid"), Invalid, "Pod t/p: so it is"),
        (refusal(429, "TooManyRequests"), Throttled, "come back later: so it is"),
        (refusal(429, "TooManyRequests", cause="DisruptionBudget"), BudgetSpent, "Pod t/p may not be evicted"),
        (refusal(500, "InternalError"), Failing, "Pod t/p with code 500: so it is"),
        (refusal(503), Failing, "with code 503"),
        (Reply(cuts=True), Unreachable, "cut"),
        (Reply(hangs=True), TimedOut, "Nothing came"),
        (Reply(status=502, body=b"<html>"), Failing, "with code 502. Look at its health"),
    ],
)  # fmt: skip
def test_each_refusal_is_a_fault_that_names_object_and_remedy(
    reply: Reply, fault: type[ClusterFault], words: str
) -> None:
    sending = Sending(reply)

    with pytest.raises(fault, match=words.replace(".", r"\.")) as caught:
        sending.ask(lambda cluster: cluster.evict(POD))

    assert type(caught.value) is fault or fault is Unreachable
    assert len(sending.api.asked) == 1


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("", None), ("tomorrow", None)])
def test_when_to_come_back_is_told(header: str, seconds: float | None) -> None:
    sending = Sending(refusal(429, retry_after=header))

    with pytest.raises(Throttled) as caught:
        sending.ask(lambda cluster: cluster.bind(POD, "n"))

    assert caught.value.retry_after_s == seconds


def test_when_to_come_back_may_be_told_in_the_body() -> None:
    body = b'{"message":"wait","details":{"retryAfterSeconds":3}}'
    sending = Sending(Reply(status=429, body=body))

    with pytest.raises(Throttled) as caught:
        sending.ask(lambda cluster: cluster.bind(POD, "n"))

    assert caught.value.retry_after_s == 3.0


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"metadata":7}'])
def test_an_answer_that_is_no_object_is_malformed(body: bytes) -> None:
    sending = Sending(Reply(body=body))

    with pytest.raises(Malformed, match="What came for Pod t/p is no object"):
        sending.ask(lambda cluster: cluster.patch(POD, Metadata(labels={"a": "b"})))


def test_one_object_is_decoded_or_left_as_it_is() -> None:
    text = b'{"metadata":{"name":"p","namespace":"t","uid":"u"}}'
    sending = Sending(Reply(body=text), Reply(body=text))
    parts = Parts()

    decoded = sending.ask(
        lambda cluster: cluster.read(
            Kind(PODS, lambda data: decode_pod(data, parts)), "p", namespace="t"
        )
    )
    as_it_is = sending.ask(lambda cluster: cluster.read(Kind(PODS, raw), "p", namespace="t"))

    assert decoded.key == "t/p"
    assert as_it_is == text


def test_a_lease_without_version_replaces_nothing() -> None:
    sending = Sending()

    with pytest.raises(AssertionError, match="overwritten"):
        sending.ask(lambda cluster: cluster.replace_lease(Lease(namespace="t", name="l")))

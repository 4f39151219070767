"""Plans that ask scheduler extenders: who is asked about what, and what the plan makes of it."""

import json
from typing import Any

import pytest

from springtide.apps.planner import Request, run
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.extending import (
    CALLS,
    HEADER,
    LICENCE,
    LICENSED,
    agreeing,
    group,
    groups,
    licence_extender,
    licences,
    node,
    passing,
    planned,
    pod,
)
from tests.serving import Reply, serving
from tests.world import FirstRng, FixedClock

ERROR = Reply(status=500)


def test_existing_and_new_nodes_are_asked_about() -> None:
    with serving(licences) as server:
        report = planned(
            [licence_extender(server)],
            node("a"),
            node("b", licences="1"),
            groups(group("a"), group("b"), group("c", licences="2")),
            *(pod(f"p{n}", amounts=LICENSED) for n in range(3)),
            pod("plain"),
        )

    assert [(each.pod, each.node) for each in report.fitting] == [
        ("n/p0", "b"),
        ("n/plain", "a"),
    ]
    assert {each.name: each.size_after - each.size_before for each in report.groups} == {
        "a": 0,
        "b": 2,
        "c": 0,
    }
    (objection,) = report.groups[0].objections
    assert (objection.rule, objection.reason) == ("ExtenderFilter", "no licence left")
    assert objection.detail == f"says extender {server.url}/licences/"
    assert report.is_satisfied
    assert [passing(request) for _, request in server.asked] == [
        ["a", "b"],
        ["template-node-for-a", "template-node-for-b", "template-node-for-c"],
    ]
    assert {path for path, _ in server.asked} == {"/licences/filter"}


def test_nodes_are_sent_whole_but_for_managed_fields_and_images() -> None:
    with serving(licences) as server:
        planned(
            [licence_extender(server)],
            node("a", licences="1"),
            pod(amounts=LICENSED, labels={"l": "1"}, annotations={"x": "y"}),
        )

    ((_, request),) = server.asked
    sent = node("a", licences="1")
    del sent["apiVersion"], sent["kind"], sent["metadata"]["managedFields"]
    del sent["status"]["images"]
    assert request["Nodes"]["items"] == [sent]
    assert request["NodeNames"] is None
    assert request["Pod"]["metadata"]["annotations"] == {"x": "y"}
    assert "kind" not in request["Pod"]


def test_the_reason_of_an_extender_reaches_the_message() -> None:
    with serving(licences) as server:
        report = planned(
            [licence_extender(server)],
            node("a"),
            node("b"),
            groups(group("a")),
            pod(amounts=LICENSED),
        )

    (stuck,) = report.stuck
    assert stuck.message == (
        "0/2 nodes are available: 2 no licence left. "
        "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    assert stuck.closest is not None
    assert stuck.closest.reason == "no licence left"


def test_where_an_extender_says_that_evictions_do_not_help_none_are_tried() -> None:
    def strict(_path: str, request: Any) -> dict[str, Any]:
        return {"FailedAndUnresolvableNodes": dict.fromkeys(passing(request), "no licence left")}

    with serving(strict) as server:
        report = planned([licence_extender(server)], node("a"), pod(amounts=LICENSED))

    (stuck,) = report.stuck
    assert stuck.message == (
        "0/1 nodes are available: 1 no licence left. "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


def test_pods_that_differ_in_what_an_extender_sees_are_asked_about_apart() -> None:
    with serving(licences) as server:
        planned(
            [licence_extender(server)],
            node("a", licences="1"),
            pod("p1", amounts=LICENSED, labels={"team": "a"}),
            pod("p2", amounts=LICENSED, labels={"team": "b"}),
            pod("p3", amounts=LICENSED, annotations={"tier": "b"}),
            pod("p4", amounts=LICENSED, annotations={"checksum/config": "1"}),
            pod("p5", amounts=LICENSED),
        )

    asked = sorted(request["Pod"]["metadata"]["name"] for _, request in server.asked)
    assert asked == ["p1", "p2", "p3", "p4"]


def test_replicas_of_a_manifest_are_asked_about_once() -> None:
    template = {
        "metadata": {"labels": {"app": "a"}, "annotations": {"x": "y"}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {LICENCE: "1"}}}]},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "n"},
        "spec": {"parallelism": 20, "template": template},
    }

    with serving(licences) as server:
        report = planned([licence_extender(server)], node("a", licences="1"), job)

    ((_, request),) = server.asked
    assert len(report.fitting) == 10
    assert request["Pod"]["metadata"]["annotations"] == {"x": "y"}
    assert request["Pod"]["metadata"]["ownerReferences"][0]["name"] == "j"
    assert request["Pod"]["spec"]["containers"][0]["resources"]["requests"] == {LICENCE: "1"}


def test_pods_of_another_scheduler_are_not_asked_about() -> None:
    with serving(licences) as server:
        report = planned(
            [licence_extender(server)], node("a"), pod(amounts=LICENSED, scheduler="other")
        )

    assert server.asked == []
    assert len(report.fitting) == 1


def test_the_extender_of_the_device_families_is_never_called() -> None:
    managed = [{"name": "nvidia.com/gpu", "ignoredByScheduler": True}]
    gpu = {"limits": {"nvidia.com/gpu": "1"}}

    with serving(agreeing) as server:
        settings = {"urlPrefix": server.url, "filterVerb": "filter", "managedResources": managed}
        report = planned([settings], node("a"), pod(amounts=gpu))

    assert server.asked == []
    assert report.stuck[0].message.startswith("0/1 nodes are available: 1 node unregistered. ")
    assert [each.treatment for each in report.extenders] == ["Simulated"]
    assert "Springtide's own rules answer in its place" in report.input.notes[0]


def test_without_calls_extenders_are_taken_to_agree_and_named() -> None:
    managed = [{"name": LICENCE}]
    extenders: list[dict[str, Any]] = [
        {"urlPrefix": "http://every", "filterVerb": "filter"},
        {"urlPrefix": "http://none", "filterVerb": "filter", "managedResources": managed},
        {"urlPrefix": "http://binder", "bindVerb": "bind"},
    ]

    report = planned(extenders, node("a"), pod("p"), pod("q"), calls=None)

    assert len(report.fitting) == 2
    assert [(each.extender, each.treatment) for each in report.extenders] == [
        ("http://every", "Assumed")
    ]
    assert report.input.notes == (
        (
            "The scheduler extender http://every is not called, and taken to agree to every node "
            "for 2 pods; --call-extenders asks it."
        ),
    )


@pytest.mark.parametrize(
    ("documents", "words"),
    [([], "the input has no KubeSchedulerConfiguration"), ([HEADER], "names none to call")],
)
def test_calls_that_find_nobody_are_told(documents: list[Any], words: str) -> None:
    sources = [Source("in", json.dumps(each).encode()) for each in [*documents, pod()]]

    found = decode(sources, keeps_raws=True)
    report = run(found, Request(calls=CALLS), clock=FixedClock(), rng=FirstRng())

    (note,) = report.input.notes
    assert words in note


def test_an_extender_that_fails_stops_its_pods_and_no_others() -> None:
    with serving(lambda *_: {"Error": "boom"}) as server:
        report = planned(
            [licence_extender(server)],
            node("a"),
            groups(group("a")),
            pod("p", amounts=LICENSED),
            pod("plain"),
        )

    (stuck,) = report.stuck
    assert [each.pod for each in report.fitting] == ["n/plain"]
    assert stuck.pods == ("n/p",)
    assert stuck.message == "boom"
    assert [(each.reason, each.detail) for each in stuck.groups] == [
        ("boom", f"from extender {server.url}/licences/")
    ]
    assert report.groups[0].size_after == 1
    (extender,) = report.extenders
    assert (extender.calls, extender.failures, extender.unanswered) == (1, 1, 0)
    assert not extender.is_missing


def test_an_extender_that_gives_no_answer_is_missing() -> None:
    with serving(lambda *_: ERROR) as server:
        report = planned([licence_extender(server)], node("a"), pod(amounts=LICENSED))

    (extender,) = report.extenders
    assert (extender.failures, extender.unanswered) == (1, 1)
    assert extender.is_missing


def test_one_that_may_be_ignored_is_passed_over_and_told() -> None:
    with serving(lambda *_: ERROR) as server:
        report = planned(
            [licence_extender(server, ignorable=True)], node("a"), pod(amounts=LICENSED)
        )

    (extender,) = report.extenders
    assert len(report.fitting) == 1
    assert not extender.is_missing
    assert report.input.notes == (
        (
            f"The scheduler extender {server.url}/licences/ failed once and was passed over, as its "
            f"configuration allows (ignorable): failed filter with extender at URL "
            f"{server.url}/licences/filter, code 500."
        ),
    )

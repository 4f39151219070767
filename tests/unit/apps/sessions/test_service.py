"""Sessions as their callers see them: answers, problems, retries, revisions, leases and bounds."""

import json
from typing import Any

import msgspec
import pytest

from springtide.apps.sessions import Reply
from springtide.engine.simulation.bounds import Bounds
from springtide.wire.simulation import answers, calls
from tests.builders import card, cards
from tests.simulating import CLIENT, NAME, Caller, Json, node, pod, read, short

BIG: dict[str, Any] = {"gpu": 1, "gpumem": 20000}


def kind(reply: Reply) -> tuple[int, str]:
    """The status of a problem and its name."""
    found = read(reply.body)
    assert found["status"] == reply.status
    assert reply.content_type == "application/problem+json"
    assert found["type"].endswith(reply.outcome)
    return reply.status, reply.outcome


def opened(*nodes: Json, bounds: Bounds = Bounds(), **fields: Any) -> Caller:  # noqa: B008
    """A caller with a session."""
    caller = Caller(bounds=bounds)
    reply = caller.open(*nodes, **fields)
    assert reply.status == 201, reply.body
    return caller


def test_a_session_begins_at_revision_0_and_says_when_it_ends() -> None:
    caller = Caller()

    reply = caller.open(node("t", card()), copies=[{"template": node("c"), "count": 3}])

    assert read(reply.body) == {
        "id": NAME,
        "revision": 0,
        "expiresAt": "2027-01-15T08:01:00Z",
        "nodes": 4,
        "pods": 0,
        "forks": 0,
        "contract": "v1",
    }
    assert [each["name"] for each in caller.content()["content"]] == ["t", "c-0", "c-1", "c-2"]


def test_fc_042_pods_see_each_others_bookings_and_other_sessions_see_none() -> None:
    caller = opened(node("T1", card()))
    caller.open(node("T1", card()), name="other")
    asked = [pod(name, gpu=1, gpumem=10240) for name in ("p1", "p2", "p3")]

    first, second, third = (caller.place(each, "T1") for each in asked)
    caller.call("addNodes", nodes=[node("T2", card())])
    evaluation = caller.evaluate(asked[2])

    assert (first["placed"], second["placed"], third["placed"]) == (True, True, False)
    assert third["reason"] == "1/1 CardInsufficientMemory"
    assert not third["unresolvable"]
    assert evaluation["feasible"] == ["T2"]
    assert caller.evaluate(asked[2], name="other")["feasible"] == ["T1"]


def test_an_evaluation_changes_nothing_and_knows_what_a_pod_would_get() -> None:
    caller = opened(node("a", *cards(2)), node("b"), node("c", *cards(2)))
    before = caller.content()

    everywhere = caller.evaluate(pod(), allocations=True)
    there = caller.evaluate(pod(), nodes=["c", "b"])

    assert everywhere["feasible"] == ["a", "c"]
    assert everywhere["refused"] == [
        {"reason": "node unregistered", "unresolvable": True, "nodes": ["b"]}
    ]
    assert everywhere["allocations"]["c"]["hami.io/vgpu-devices-allocated"].startswith("template-c")
    assert (there["feasible"], there["refused"][0]["nodes"]) == (["c"], ["b"])
    assert caller.content() == before


def test_what_would_be_got_is_what_is_got() -> None:
    caller = opened(node("a", *cards(2)))

    would = caller.evaluate(pod(), allocations=True)["allocations"]["a"]
    placed = caller.place(pod(), "a")

    assert placed["allocations"] == would


def test_a_change_that_is_sent_again_happens_once() -> None:
    caller = opened(node("t", card()))
    call: Json = {"operationId": "once", "pods": [{"pod": pod("a", **BIG), "node": "t"}]}

    first, again = caller.call("place", **call), caller.call("place", **call)

    assert first.body == again.body
    assert caller.content()["revision"] == 1


def test_a_session_that_is_opened_again_by_the_same_call_is_the_same() -> None:
    caller = Caller(bounds=Bounds(sessions_per_client_max=1))
    call = {"operationId": "once"}

    first, again = caller.open(node("t"), **call), caller.open(node("t"), **call, name="s-2")
    other = caller.open(node("u"), **call, name="s-3")

    assert first.body == again.body
    assert kind(other) == (409, "operation-reused")


def test_a_session_that_has_ended_is_opened_anew_by_the_same_call() -> None:
    caller = Caller()
    call = {"operationId": "once"}
    caller.open(node("t"), **call)
    caller.service.close(CLIENT, NAME, caller.at)

    again = caller.open(node("t"), **call, name="s-2")

    assert (again.status, read(again.body)["id"]) == (201, "s-2")


def test_verdicts_hold_when_it_is_forgotten_which_nodes_have_changed() -> None:
    caller = opened(*(node(name, card()) for name in "abc"), bounds=Bounds(log_max=1))
    found = []
    for name in "abc":
        found.append(caller.evaluate(pod("p", **BIG))["feasible"])
        caller.place(pod(name, **BIG), name)

    assert found == [["a", "b", "c"], ["b", "c"], ["c"]]


def test_an_operation_id_is_not_used_for_two_changes() -> None:
    caller = opened(node("t", card()))
    caller.call("fork", operationId="once")

    reply = caller.call("revert", operationId="once")

    assert kind(reply) == (409, "operation-reused")
    assert caller.content()["forks"] == 1


def test_a_change_for_another_revision_is_refused_with_the_present_one() -> None:
    caller = opened(node("t", card()))
    caller.call("fork", ifRevision=0)

    reply = caller.call("revert", ifRevision=0)

    assert kind(reply) == (409, "revision-moved")
    assert read(reply.body)["revision"] == 1
    assert caller.call("revert", ifRevision=1).status == 200


def test_old_operations_are_forgotten_so_that_memory_is_bounded() -> None:
    caller = opened(node("t", card()), bounds=Bounds(operations_max=2))
    for operation in ("a", "b", "c"):
        caller.call("fork", operationId=operation)

    caller.call("fork", operationId="b")
    caller.call("fork", operationId="a")

    assert caller.content()["forks"] == 4


def test_use_renews_the_lease_and_looking_does_not() -> None:
    caller = opened(node("t", card()))
    caller.now_s = 50
    caller.evaluate(pod())
    caller.now_s = 100
    caller.content()
    caller.now_s = 110

    reply = caller.call("fork")

    assert kind(reply) == (410, "session-ended")


@pytest.mark.parametrize(("asked", "lasts_s"), [(None, 60), (10, 10), (100_000, 900)])
def test_a_lease_is_as_long_as_asked_within_bounds(asked: float | None, lasts_s: float) -> None:
    caller = Caller()
    caller.open(node("t"), leaseSeconds=asked)
    caller.now_s = lasts_s - 1

    assert caller.service.content(CLIENT, NAME, caller.at).status == 200
    caller.now_s = lasts_s
    assert caller.service.content(CLIENT, NAME, caller.at).status == 410


def test_a_session_is_not_there_for_anybody_else() -> None:
    caller = opened(node("t", card()))
    caller.client = "somebody-else"

    replies = [
        caller.call("evaluate", pods=[pod()]),
        caller.call("fork"),
        caller.service.content(caller.client, NAME, caller.at),
        caller.service.close(caller.client, NAME, caller.at),
    ]

    assert {kind(reply) for reply in replies} == {(404, "no-such-session")}


def test_a_closed_session_is_gone() -> None:
    caller = opened(node("t", card()))

    closed = caller.service.close(CLIENT, NAME, caller.at)

    assert (closed.status, closed.body) == (204, b"")
    assert kind(caller.service.close(CLIENT, NAME, caller.at)) == (410, "session-ended")


def test_levels_are_taken_back_and_kept() -> None:
    caller = opened(node("t", card()))
    caller.call("fork")
    caller.place(pod("a"), "t")
    caller.call("fork")
    caller.place(pod("b"), "t")
    caller.call("addNodes", nodes=[node("u", card())])
    caller.call("revert")
    inner = caller.content()
    caller.call("commit")

    reply = caller.call("revert")

    assert [[each["name"] for each in n["pods"]] for n in inner["content"]] == [["a"]]
    assert (inner["revision"], inner["forks"]) == (6, 1)
    assert kind(reply) == (422, "contradiction")
    assert caller.content()["pods"] == 1


def test_all_or_nothing_places_all_or_none() -> None:
    caller = opened(node("t", card()))
    wanted = [{"pod": pod(name, **BIG), "node": "t"} for name in ("a", "b")]

    none = read(caller.call("place", pods=wanted, allOrNothing=True).body)
    some = read(caller.call("place", pods=wanted).body)

    assert [each["placed"] for each in none["results"]] == [False, False]
    assert none["pods"] == 0
    assert "another pod" in none["results"][0]["reason"]
    assert none["results"][1]["reason"] == "1/1 CardInsufficientMemory"
    assert [each["placed"] for each in some["results"]] == [True, False]


def test_a_call_that_contradicts_itself_changes_nothing() -> None:
    caller = opened(node("t", card()), node("full", card(), standing=[short("s", **BIG)]))
    caller.place(pod("a"), "t")
    before = caller.content()
    good = {"pod": pod("b"), "node": "t"}

    replies = [
        caller.call("place", pods=[good, {"pod": pod("c"), "node": "nowhere"}]),
        caller.call("place", pods=[good, {"pod": pod("a"), "node": "full"}]),
        caller.call("remove", pods=["team/a", "nobody"]),
        caller.call("addNodes", nodes=[node("u"), node("t")]),
        caller.call("addNodes", nodes=[node("u", card(), standing=[short("s", **BIG)])]),
        caller.call("removeNodes", nodes=["t", "t"]),
        caller.call("removeNodes", nodes=["t", "nowhere"]),
        caller.call("commit"),
    ]

    assert {kind(reply) for reply in replies} == {(422, "contradiction")}
    assert caller.content() == before


def test_a_node_that_goes_takes_its_pods_along_and_its_place_is_used_again() -> None:
    caller = opened(node("a", card()), node("b", card()))
    caller.place(pod("p", **BIG), "a")

    gone = read(caller.call("removeNodes", nodes=["a"]).body)
    caller.call("addNodes", nodes=[node("c", card())])

    assert [each["name"] for each in gone["removed"]] == ["p"]
    assert gone["pods"] == 0
    assert sorted(caller.evaluate(pod("p", **BIG))["feasible"]) == ["b", "c"]


def test_pods_that_stand_on_a_node_can_be_taken_away() -> None:
    caller = opened(node("t", card(), standing=[short("s", **BIG)]))

    refused = caller.evaluate(pod(**BIG))["feasible"]
    caller.call("remove", pods=["n/s"])

    assert (refused, caller.evaluate(pod(**BIG))["feasible"]) == ([], ["t"])


def test_dynamic_fields_are_kept_for_the_whole_session() -> None:
    sick = card(is_healthy=False)
    caller = opened(node("a", sick), dynamicFields="keep")
    caller.call("addNodes", nodes=[node("b", sick)])

    assert caller.evaluate(pod())["feasible"] == []


@pytest.mark.parametrize(
    ("verb", "fields", "field"),
    [
        ("place", {"pods": []}, "pods"),
        ("place", {"pods": [{"pod": {}, "nod": "t"}]}, "pods[0].nod"),
        ("place", {"pods": [{"pod": {"metadata": {"name": 1}}, "node": "t"}]}, ""),
        ("fork", {"operationId": ""}, "operationId"),
        ("fork", {"force": True}, "force"),
        ("addNodes", {"nodes": [{}]}, ""),
        ("addNodes", {"copies": [{"template": {}, "count": 0}]}, "copies[0].count"),
        ("explode", {}, ""),
    ],
)
def test_a_body_that_cannot_be_read_says_where(verb: str, fields: Json, field: str) -> None:
    caller = opened(node("t", card()))

    reply = caller.call(verb, **fields)

    assert kind(reply) == (400, "invalid-request")
    assert read(reply.body)["field"] == field


def test_a_body_that_is_no_json_is_refused() -> None:
    caller = opened(node("t", card()))

    reply = caller.service.call(CLIENT, NAME, "fork", b"{", caller.at)

    assert kind(reply) == (400, "invalid-request")


@pytest.mark.parametrize(
    ("bounds", "verb", "fields"),
    [
        (Bounds(session_pods_max=0), "place", {"pods": [{"pod": pod(), "node": "t"}]}),
        (Bounds(levels_max=0), "fork", {}),
        (Bounds(session_nodes_max=1), "addNodes", {"copies": [{"template": node("c")}]}),
        (Bounds(session_nodes_max=1), "addNodes", {"copies": [{"template": node(), "count": 2}]}),
        (Bounds(batch_max=1), "remove", {"pods": ["a", "b"]}),
        (Bounds(changes_max=0), "place", {"pods": [{"pod": pod(), "node": "t"}]}),
    ],
)
def test_bounds_are_told(bounds: Bounds, verb: str, fields: Json) -> None:
    caller = opened(node("t", card()), bounds=bounds)

    assert kind(caller.call(verb, **fields)) == (413, "too-large")
    assert caller.content()["revision"] == 0


def test_nodes_of_all_sessions_together_are_bounded() -> None:
    caller = opened(node("a"), bounds=Bounds(sessions_nodes_max=2))

    replies = [
        caller.open(node("b"), node("c"), name="s-2"),
        caller.call("addNodes", nodes=[node("b"), node("c")]),
    ]

    assert {kind(reply) for reply in replies} == {(429, "too-many")}
    assert len(caller.service.sessions) == 1


def test_sessions_of_all_clients_together_are_bounded() -> None:
    caller = opened(node("a"), bounds=Bounds(sessions_max=1))
    caller.client = "somebody-else"

    full = caller.open(node("a"))
    caller.now_s = 60
    later = caller.open(node("a"))

    assert (kind(full), later.status) == ((429, "too-many"), 201)


def test_every_call_and_answer_has_a_documented_schema() -> None:
    types = {*calls.CALLS.values(), *answers.ANSWERS.values(), answers.Problem}

    schema = json.loads(json.dumps(msgspec.json.schema_components(types)))

    described = [each for each in schema[1].values() if "properties" in each]
    assert len(described) >= len(types)
    assert all(each.get("description") for each in described)

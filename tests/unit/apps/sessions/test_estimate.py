"""Estimates: how many nodes of each template pods need, and which fit nowhere."""

import json
from typing import Any

import pytest

from springtide.engine.simulation.bounds import Bounds
from tests.builders import card, cards
from tests.simulating import Caller, Json, node, pod, profile, read, short


def estimated(caller: Caller, *templates: Json, pods: Any, **fields: Any) -> Json:
    """The answer to an estimate."""
    asked = [{"pod": each, "count": count} for each, count in pods]
    entries = [each if "node" in each else {"node": each} for each in templates]
    call = {"templates": entries, "pods": asked, **fields}
    reply = caller.service.estimate(json.dumps(call).encode())
    return {"status": reply.status, **read(reply.body)}


def test_every_template_is_asked_by_itself() -> None:
    small, large = node("small", card()), node("large", *cards(2))

    answer = estimated(Caller(), small, large, pods=[(pod(gpu=1, gpumem=10000), 10)])

    assert [(each["template"], each["nodes"]) for each in answer["estimates"]] == [
        ("small", 5),
        ("large", 3),
    ]
    assert answer["estimates"][0]["loads"] == [{"nodes": 5, "pods": [{"group": 0, "pods": 2}]}]
    assert answer["nowhere"] == []


def test_groups_share_nodes_and_are_counted_apart() -> None:
    pods = [(pod("a", gpu=1, gpumem=20000), 2), (pod("b", gpu=1, gpumem=4000), 2)]

    answer = estimated(Caller(), node("t", card()), pods=pods)

    (only,) = answer["estimates"]
    assert (only["nodes"], only["pods"]) == (2, 4)
    assert sum(load["nodes"] * len(load["pods"]) for load in only["loads"]) == 4


def test_pods_that_fit_nowhere_are_told_with_the_reason_of_every_template() -> None:
    given = Caller(profiles=[profile("a10", pool="g")])
    templates = [node("a", card(memory=1000)), node("b"), node("c", labels={"pool": "g"})]
    pods = [(pod("x", gpu=1, gpumem=30000), 3), (pod("y", gpu=1, gpumem=500), 1)]

    answer = estimated(given, *templates, pods=pods)

    assert answer["nowhere"] == [0]
    left = {each["template"]: each["left"] for each in answer["estimates"]}
    assert left["a"][0]["reason"].startswith("1/1 CardInsufficientMemory: 30000 MiB asked")
    assert left["a"][0] | {"reason": ""} == {
        "group": 0, "pods": 3, "reason": "", "unresolvable": True,
    }  # fmt: skip
    assert [each["reason"] for each in left["b"]] == ["node unregistered"] * 2
    assert [each["group"] for each in left["c"]] == [0]


@pytest.mark.parametrize(
    "limits",
    [
        {"nodesMax": 2},
        {"templates": [{"node": node("t", card()), "nodesMax": 2}]},
    ],
)
def test_no_more_nodes_are_needed_than_are_permitted(limits: Json) -> None:
    templates = limits.pop("templates", [node("t", card())])

    answer = estimated(Caller(), *templates, pods=[(pod(gpu=1, gpumem=20000), 5)], **limits)

    (only,) = answer["estimates"]
    assert (only["nodes"], only["pods"], only["limited"]) == (2, 2, True)
    assert only["left"] == [
        {
            "group": 0,
            "pods": 3,
            "reason": "no further node is permitted",
            "unresolvable": False,
        }
    ]


def test_all_rules_count_unless_devices_alone_are_asked_about() -> None:
    asked = pod(gpu=1, gpumem=100)
    asked["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "6", "nvidia.com/gpu": "1"}
    tainted = node("t", *cards(2)) | {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}

    every = estimated(Caller(), node("t", *cards(2)), pods=[(asked, 4)])
    devices = estimated(Caller(), node("t", *cards(2)), pods=[(asked, 4)], rules="devices")
    shy = estimated(Caller(), tainted, pods=[(pod(), 1)])

    assert [each["estimates"][0]["nodes"] for each in (every, devices)] == [4, 1]
    assert "taint" in shy["estimates"][0]["left"][0]["reason"]


def test_templates_that_differ_in_name_alone_give_the_same_answer() -> None:
    names = [f"zone-{letter}" for letter in "abc"]
    nodes = [node(name, card(f"GPU-{name}"), labels={"zone": name}) for name in names]
    bound = pod(gpu=1, gpumem=10000)
    bound["spec"]["nodeSelector"] = {"zone": "zone-b"}
    pods = [(pod(gpu=1, gpumem=10000), 3), (bound, 3)]

    answer = estimated(Caller(), *nodes, pods=pods, rules="all")

    assert [each["nodes"] for each in answer["estimates"]] == [2, 3, 2]


@pytest.mark.parametrize(
    ("templates", "status", "why"),
    [
        ([node("t"), node("t")], 422, "two have the name t"),
        ([node("t", card(), standing=[short("s", gpu=1, gpumem=5)])], 422, "pods stand on it"),
        ([{"node": {"metadata": {"name": 1}}}], 400, "templates[0].node cannot be read"),
    ],
)
def test_templates_that_cannot_be_are_refused(templates: Any, status: int, why: str) -> None:
    answer = estimated(Caller(), *templates, pods=[(pod(), 1)])

    assert answer["status"] == status
    assert why in answer["detail"]


def test_pods_that_hold_no_device_may_stand_on_a_template() -> None:
    asked = pod(gpu=1, gpumem=100)
    asked["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "3"}
    daemon = {"name": "d", "containers": [{"resources": {"requests": {"cpu": "3"}}}]}

    without = estimated(Caller(), node("t", *cards(2)), pods=[(asked, 4)])
    carried = estimated(Caller(), node("t", *cards(2), standing=[daemon]), pods=[(asked, 4)])

    assert [each["estimates"][0]["nodes"] for each in (without, carried)] == [2, 4]


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(estimate_pods_max=9),
        Bounds(estimate_templates_max=1),
        Bounds(estimate_weighed_max=19),
    ],
)
def test_bounds_of_an_estimate_are_told(bounds: Bounds) -> None:
    answer = estimated(Caller(bounds=bounds), node("a"), node("b"), pods=[(pod(), 10)])

    assert answer["status"] == 413
    assert "are the most" in answer["detail"]


def test_an_estimate_ends_in_time() -> None:
    answer = estimated(
        Caller(bounds=Bounds(estimate_s_max=0.0)), node("t", card()), pods=[(pod(), 1)]
    )

    (only,) = answer["estimates"]
    assert (only["nodes"], only["limited"]) == (0, True)
    assert only["left"][0]["reason"].startswith("the time for the estimate is over")

"""A session, a call without state and a plan say the same of every node, reasons included."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.apps.planner.assemble import assemble
from springtide.apps.sessions import Rules, filter_simulation, rules
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.judge import DEVICES_ALONE
from springtide.model.device import Device
from springtide.model.refusal import Refusal
from springtide.wire.documents import decode
from springtide.wire.k8s import Parts
from springtide.wire.simulation import read_pod
from springtide.wire.source import Source
from tests.builders import card, mig_card
from tests.simulating import PODS, Caller, Json, body, node, pod, read, simulated

GIVEN = rules()
ASKS: list[dict[str, Any]] = [
    {"gpu": 1, "gpumem": 4000},
    {"gpu": 1, "gpumem": 12000, "gpucores": 60},
    {"gpu": 2, "gpumem": 9000},
    {"gpu": 1, "gpumem": 20000, "gpucores": 100},
    {"gpu": 3, "gpumem": 100},
    {"cpu": 1},
    {"npu": 1, "npu-memory": 32768},
    {"npu": 2},
    {"gpu": 1, "gpumem": 4000, "npu": 1, "npu-memory": 16384},
]
NPU = "Ascend910B3"
CARDS_ONLY = 4
"""Kinds of nodes above this one have chips."""


def _cards(name: str, kind: int) -> list[Device]:
    """The cards of a node, under the ids that a simulation gives them."""

    def numbered(position: int, made: Device) -> Device:
        return replace(made, id=f"template-{name}-{position}", index=position)

    kinds = [
        [],
        [card()],
        [card(), card()],
        [card(numa=0), card(numa=1), card(memory=16000, numa=1)],
        [mig_card(), mig_card()],
    ]
    return [numbered(position, made) for position, made in enumerate(kinds[kind])]


def _node(name: str, kind: int) -> Json:
    """A node: with cards, from the sixth kind on with chips."""
    if kind <= CARDS_ONLY:
        return node(name, *_cards(name, kind))
    chips = [
        {
            "id": f"template-{name}-{position}", "index": position, "count": 4, "devmem": 65536,
            "devcore": 20, "type": NPU, "health": True, "custominfo": {"NetworkID": position // 2},
        }
        for position in range(2)
    ]  # fmt: skip
    notes = {f"hami.io/node-register-{NPU}": json.dumps(chips)}
    return node(name, *_cards(name, kind - 5), notes=notes)


def _pod(name: str, annotations: dict[str, str], **limits: int) -> Json:
    """A pod that asks for cards, chips or both."""
    chips = {key: value for key, value in limits.items() if key.startswith("npu")}
    cards = {key: value for key, value in limits.items() if key not in chips}
    made = pod(name, annotations=annotations, **(cards or {"gpu": 0}))
    container = made["spec"]["containers"][0]
    asked = {key.replace("npu", f"huawei.com/{NPU}"): str(value) for key, value in chips.items()}
    amounts = {**container["resources"]["limits"], **asked}
    container["resources"] = {"limits": amounts, "requests": amounts}
    return made


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Json], list[tuple[Json, int]]]:
    """Nodes, and pods with the node that each is tried on."""
    kinds = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    nodes = [_node(f"n{place}", kind) for place, kind in enumerate(kinds)]
    if draw(st.booleans()):
        nodes.append(node("bad", notes={"hami.io/node-nvidia-register": "[null]"}))
    notes = st.sampled_from(
        [
            {},
            {"nvidia.com/numa-bind": "true"},
            {"hami.io/gpu-scheduler-policy": "binpack"},
            {"hami.io/gpu-scheduler-policy": "mutex"},
            {"nvidia.com/use-gputype": "A100"},
            {"nvidia.com/vgpu-mode": "mig"},
        ]
    )
    asks = draw(st.lists(st.tuples(st.sampled_from(ASKS), notes), min_size=1, max_size=8))
    return nodes, [
        (_pod(f"p{index}", note, **ask), draw(st.integers(0, len(nodes) - 1)))
        for index, (ask, note) in enumerate(asks)
    ]


def carried(placed: Json, *, by_allocation: bool) -> Json:
    """A placed pod as its node carries it."""
    asked, result = placed["pod"], placed["result"]
    containers = asked["spec"]["containers"]
    made = {"namespace": "team", "name": asked["metadata"]["name"], "containers": containers}
    if by_allocation:
        return made | {"allocations": result["allocations"]}
    return made | {"annotations": asked["metadata"]["annotations"]}


def carrying(nodes: list[Json], placed: list[Json], *, by_allocation: bool) -> list[Json]:
    """The nodes with the pods that were placed on them."""
    found = []
    for each in nodes:
        on = [
            carried(one, by_allocation=by_allocation)
            for one in placed
            if one["node"] == each["metadata"]["name"]
        ]
        metadata = each["metadata"]
        annotations = {**metadata["annotations"], PODS: json.dumps(on)}
        found.append(each | {"metadata": {**metadata, "annotations": annotations}})
    return found


def told(answer: Json) -> dict[str, tuple[str, bool]]:
    """Every node of a call with its reason, empty if it fits."""
    found = {each["metadata"]["name"]: ("", False) for each in answer["Nodes"]["items"]}
    found |= {name: (text, False) for name, text in answer["FailedNodes"].items()}
    unresolvable = answer["FailedAndUnresolvableNodes"].items()
    return found | {name: (text, True) for name, text in unresolvable}


def said(evaluation: Json) -> dict[str, tuple[str, bool]]:
    """The same of an evaluation in a session."""
    found = dict.fromkeys(evaluation["feasible"], ("", False))
    for each in evaluation["refused"]:
        found |= dict.fromkeys(each["nodes"], (each["reason"], each["unresolvable"]))
    return found


def planned(asked: Json, nodes: list[Json], placed: list[Json], given: Rules) -> dict[str, str]:
    """What the nodes of a plan say, on which the placed pods run."""
    running = [
        {
            **one["pod"],
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **one["pod"]["metadata"],
                "uid": one["pod"]["metadata"]["name"],
                "annotations": {
                    **one["pod"]["metadata"]["annotations"],
                    **one["result"]["allocations"],
                },
            },
            "spec": {**one["pod"]["spec"], "nodeName": one["node"]},
            "status": {"phase": "Running"},
        }
        for one in placed
    ]
    objects = [*({"apiVersion": "v1", "kind": "Node", **each} for each in nodes), *running]
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    picture = assemble(decode([Source("in", json.dumps(listed).encode())]), given.families)
    tables = Tables(picture.ledger, Framework(DEVICES_ALONE), given.families)
    wanted = given.judge.class_of(read_pod(json.dumps(asked).encode(), "pod", Parts()))
    answers = {name: tables.place(wanted, row) for name, row in picture.ledger.rows.items()}
    return {
        name: answer.text if isinstance(answer, Refusal) else "" for name, answer in answers.items()
    }


@given(worlds())
def test_a_session_a_call_without_state_and_a_plan_agree(
    world: tuple[list[Json], list[tuple[Json, int]]],
) -> None:
    nodes, asks = world
    caller = Caller()
    caller.open(*nodes)
    placed: list[Json] = []

    for asked, place in asks:
        name = nodes[place]["metadata"]["name"]
        by_pods = simulated(asked, *carrying(nodes, placed, by_allocation=False), given=GIVEN)
        by_texts = simulated(asked, *carrying(nodes, placed, by_allocation=True), given=GIVEN)
        evaluation = caller.evaluate(asked, allocations=True)
        result = caller.place(asked, name)

        assert told(by_pods) == told(by_texts) == said(evaluation)
        assert by_pods["allocations"] == by_texts["allocations"]
        assert {k: v for k, v in evaluation["allocations"].items() if v} == by_pods["allocations"]
        in_plan = planned(asked, nodes, placed, GIVEN)
        assert {name: text for name, (text, _) in told(by_pods).items()} == in_plan
        assert result["placed"] == (said(evaluation)[name][0] == "")
        if result["placed"]:
            placed.append({"pod": asked, "node": name, "result": result})


@given(worlds(), st.randoms(use_true_random=False))
def test_what_was_remembered_changes_no_answer(
    world: tuple[list[Json], list[tuple[Json, int]]], chance: Any
) -> None:
    nodes, asks = world
    bodies = [body(asked, *nodes) for asked, _ in asks]
    order = [*bodies, *bodies]
    chance.shuffle(order)
    remembering = rules()

    for each in order:
        known = filter_simulation(each, remembering).body

        assert known == filter_simulation(each, rules()).body
        assert read(known)["Error"] == ""

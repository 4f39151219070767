"""The defects of the peer's simulation (S1 to S18 of its description), each with what we do instead."""

import json
from collections.abc import Mapping
from typing import Final

import pytest

from springtide.apps.sessions import filter_simulation, rules
from springtide.engine.live import Live, LiveSettings
from springtide.engine.profiles.comparing import Outcome, compared
from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.filtering import filtered
from springtide.model.device import Inventory
from springtide.model.node import Node
from springtide.wire.simulation import read_node
from tests.builders import card, cards, mig_card
from tests.builders import pod as pod_record
from tests.ledgers import content
from tests.simulating import (
    Caller,
    Json,
    body,
    fitting,
    node,
    pod,
    profile,
    read,
    reasons,
    short,
    simulated,
)

S_RULES: Final = rules()


def test_s1_the_path_alone_makes_a_call_a_simulation() -> None:
    live = Live(S_RULES.families, LiveSettings())
    live.node_seen(_record(node("t", card())), now_s=0.0)
    before = content(live.ledger)

    answer = simulated(pod(), node("t", card()))

    assert fitting(answer) == ["t"]
    assert content(live.ledger) == before


def test_s2_nothing_but_the_rules_is_needed_to_answer() -> None:
    assert filter_simulation(body(pod(), node("t", card())), rules()).fitting == 1


@pytest.mark.parametrize("call", [{"Pod": pod()}, {"Pod": pod(), "NodeNames": ["t"]}, {}])
def test_s3_a_call_is_checked_before_anything_else(call: Mapping[str, object]) -> None:
    answer = filter_simulation(json.dumps(call).encode(), rules())

    assert answer.outcome == "Invalid"


def test_s4_every_node_that_fits_comes_back() -> None:
    nodes = [node(name, *cards(2)) for name in "cab"]

    assert fitting(simulated(pod(), *nodes)) == ["c", "a", "b"]


def test_s5_malformed_is_told_from_missing() -> None:
    bad = node("bad", notes={"hami.io/node-nvidia-register": "[null]"})

    told = reasons(simulated(pod(), bad, node("none")))

    assert told["none"] == "node unregistered"
    assert told["bad"].startswith("device registration malformed: hami.io/node-nvidia-register")


def test_s6_a_pod_without_devices_fits_everywhere_and_a_senseless_one_is_told_why() -> None:
    nodes = [node("a"), node("b", notes={"hami.io/node-nvidia-register": "["})]
    senseless = pod()
    limits = senseless["spec"]["containers"][0]["resources"]["limits"]
    limits |= {"nvidia.com/gpumem": "16Gi"}

    assert fitting(simulated(pod(cpu=1), *nodes)) == ["a", "b"]
    assert "nvidia.com/gpumem" in reasons(simulated(senseless, node("t", card())))["t"]


def test_s7_no_live_state_is_read_and_quotas_are_left_to_the_live_path() -> None:
    answers = [simulated(pod(), node("t", card()), given=given) for given in (S_RULES, rules())]

    assert answers[0] == answers[1]


def test_s8_what_was_asked_before_changes_no_answer() -> None:
    asked = [
        (pod(gpu=1, gpumem=4000), node("a", mig_card("M"))),
        (pod(gpu=2, gpumem=100), node("a", *cards(2))),
        (pod(gpu=1, gpumem=100), node("b", card(), standing=[short("x", gpu=1, gpumem=24000)])),
    ]
    given = rules()

    forward = [simulated(*each, given=given) for each in asked]
    backward = [simulated(*each, given=given) for each in reversed(asked)]
    alone = [simulated(*each, given=rules()) for each in asked]

    assert forward == backward[::-1] == alone


def test_s9_thousands_of_nodes_fit_into_a_call_and_a_bound_is_told() -> None:
    nodes = [node(f"n{index}", card()) for index in range(2_000)]

    answer = filter_simulation(body(pod(), *nodes), rules())
    bounded = filter_simulation(body(pod(), *nodes), rules(bounds=Bounds(nodes_max=1_000)))

    assert answer.fitting == 2_000
    assert "at most 1000" in read(bounded.body)["Error"]


def test_s10_what_one_caller_can_make_the_process_hold_is_bounded() -> None:
    caller = Caller(bounds=Bounds(sessions_per_client_max=1, session_nodes_max=2))

    first, second = caller.open(node("a", card())), caller.open(node("a", card()), name="s-2")
    large = caller.call("addNodes", nodes=[node("b"), node("c")])

    assert (first.status, second.status, large.status) == (201, 429, 413)


def test_s11_what_a_template_has_of_the_copied_node_alone_is_reset() -> None:
    dirty = node(
        "t",
        card("GPU-a", is_healthy=False),
        notes={
            "hami.io/device-cordon": "GPU-a",
            "hami.io/mutex.lock": "2026-01-01T00:00:00Z",
            "hami.io/node-handshake": "Deleted_2026.01.01 00:00:00",
        },
    )

    assert fitting(simulated(pod(), dirty)) == ["t"]


def test_s12_pods_of_one_session_see_each_other() -> None:
    caller = Caller()
    caller.open(node("t", card()))

    first, second, third = (
        caller.place(pod(name, gpu=1, gpumem=10240), "t") for name in ("a", "b", "c")
    )

    assert (first["placed"], second["placed"]) == (True, True)
    assert third["reason"] == "1/1 CardInsufficientMemory"


def test_s13_a_group_without_nodes_is_known_by_its_profile() -> None:
    given = rules(profiles=[profile("a10", count=2, pool="g")])
    registered = simulated(pod(gpu=2, gpumem=100), node("t", *cards(2)))

    promised = simulated(pod(gpu=2, gpumem=100), node("t", labels={"pool": "g"}), given=given)

    assert fitting(promised) == fitting(registered) == ["t"]
    assert promised["allocations"].keys() == registered["allocations"].keys()


def test_s14_what_a_new_node_registers_is_compared_with_what_it_was_simulated_with() -> None:
    found = {"NVIDIA": Inventory("NVIDIA", cards(2, memory=1000))}

    assert compared((("NVIDIA", cards(2)),), found).outcome is Outcome.MISMATCH


def test_s15_a_node_that_the_live_scheduler_would_not_look_at_is_unregistered() -> None:
    given = rules(node_selector={"gpu": "on"})
    nodes = [node("on", card(), labels={"gpu": "on"}), node("off", card(), labels={"gpu": "off"})]

    answer = simulated(pod(), *nodes, given=given)

    assert fitting(answer) == ["on"]
    assert answer["FailedAndUnresolvableNodes"] == {"off": "node unregistered"}


def test_s16_nodes_that_can_never_fit_are_told_apart() -> None:
    answer = simulated(pod(gpu=1, gpumem=50000), node("t", card()), node("none"))

    assert answer["FailedNodes"] == {}
    assert answer["FailedAndUnresolvableNodes"].keys() == {"t", "none"}


def test_s17_pods_that_a_new_node_will_run_can_be_put_there_first() -> None:
    daemon = short("daemon", gpu=1, gpumem=20000)
    caller = Caller()
    caller.open(node("t", card(), standing=[daemon]))

    asked = pod(gpu=1, gpumem=8000)

    assert reasons(simulated(asked, node("t", card(), standing=[daemon]))).keys() == {"t"}
    assert caller.evaluate(asked)["feasible"] == []


def test_s18_equal_nodes_are_asked_once() -> None:
    nodes = [_record(node(f"n{n}", *(card(f"GPU-{n}-{c}") for c in range(8)))) for n in range(100)]

    groups = filtered(pod_record(gpu=4, gpumem=100), nodes, rules().resets)

    assert [len(group.positions) for group in groups] == [100]


def _record(sent: Json) -> Node:
    return read_node(json.dumps(sent).encode(), "the node")

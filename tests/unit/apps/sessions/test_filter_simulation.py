"""`/filter-simulation`: the contract of one call, the situations from the field, and its bounds."""

import json

import pytest
from msgspec.structs import replace

from springtide.apps.sessions import filter_simulation, rules
from springtide.engine.simulation.bounds import Bounds
from tests.builders import card, cards, mig_card
from tests.simulating import (
    PODS,
    PROFILE,
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

K80 = (card("GPU-k0", memory=11441), card("GPU-k1", memory=11441))


def test_fc_038_a_template_fits_does_not_fit_or_is_unregistered() -> None:
    given = rules()
    small, big = pod(gpu=1, gpumem=300, gpucores=40), pod(gpu=1, gpumem=12000)

    answers = [
        simulated(small, node("tmpl-a", *K80), given=given),
        simulated(big, node("tmpl-a", *K80), given=given),
        simulated(small, node("tmpl-b"), given=given),
    ]
    again = [simulated(small, node("tmpl-a", *K80), given=given) for _ in range(100)]

    assert [fitting(answer) for answer in answers] == [["tmpl-a"], [], []]
    assert reasons(answers[1]) == {"tmpl-a": "2/2 CardInsufficientMemory"}
    assert reasons(answers[2]) == {"tmpl-b": "node unregistered"}
    assert [answer["Error"] for answer in answers] == ["", "", ""]
    assert again == [answers[0]] * 100


def test_fc_039_every_node_that_fits_comes_back_in_order_with_a_reason_for_every_other() -> None:
    nodes = [
        node("t-small", card(memory=8192)),
        node("t-mid", card(memory=16384)),
        node("t-bad", notes={"hami.io/node-nvidia-register": "{not json"}),
        node("t-big", card(memory=81920)),
    ]

    answer = simulated(pod(gpu=1, gpumem=10000), *nodes)

    assert answer["Nodes"]["items"] == [nodes[1], nodes[3]]
    assert reasons(answer).keys() == {"t-small", "t-bad"}
    assert reasons(answer)["t-small"] == "1/1 CardInsufficientMemory"
    assert reasons(answer)["t-bad"].startswith("device registration malformed: hami.io/node-nvidia")


def test_fc_040_keys_are_read_in_any_case_and_written_as_go_names_them() -> None:
    call = read(body(pod(), node("t", *cards(1))))
    lower = {"pod": call["Pod"], "nodes": {"Items": call["Nodes"]["items"]}, "other": 1}

    answers = [filter_simulation(json.dumps(each).encode(), rules()) for each in (call, lower)]

    assert answers[0].body == answers[1].body
    assert read(answers[0].body).keys() == {
        "Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error", "allocations",
        "contract",
    }  # fmt: skip


def test_fc_042_pods_that_a_node_carries_are_seen() -> None:
    asked = pod("p3", gpu=1, gpumem=10240)
    first, second = short("p1", gpu=1, gpumem=10240), short("p2", gpu=1, gpumem=10240)
    full, free = node("T1", card(), standing=[first, second]), node("T2", card(), standing=[])

    answer = simulated(asked, full, free)

    assert fitting(answer) == ["T2"]
    assert answer["FailedNodes"] == {"T1": "1/1 CardInsufficientMemory"}


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ({"Pod": {"metadata": {"name": "p"}}, "NodeNames": ["n1"]}, "NodeNames"),
        (
            {"Pod": {"metadata": {"name": "p"}}, "NodeNames": ["n1"], "Nodes": {"items": []}},
            "NodeNames",
        ),
        ({"Pod": {"metadata": {"name": "p"}}}, "Nodes is missing"),
        ({"Nodes": {"items": []}}, "Pod is missing"),
        ({"Pod": None, "Nodes": {"items": []}}, "Pod is missing"),
    ],
)
def test_fc_043_a_contradictory_call_is_refused_before_any_work(call: Json, word: str) -> None:
    answer = filter_simulation(json.dumps(call).encode(), rules())

    assert answer.outcome == "Invalid"
    assert read(answer.body)["Error"].startswith("Invalid: ")
    assert word in read(answer.body)["Error"]
    assert read(answer.body)["Nodes"] is None


def test_fc_043_no_candidates_are_no_error() -> None:
    answer = simulated(pod())

    assert (answer["Nodes"]["items"], answer["Error"]) == ([], "")


def test_fc_045_a_pod_that_fits_by_count_alone_does_not_fit() -> None:
    running = {
        "name": "r",
        "annotations": {"hami.io/vgpu-devices-allocated": "GPU-a,NVIDIA,15000,0:;"},
        "containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}],
    }

    answer = simulated(
        pod(gpu=1, gpumem=2000), node("n1", card("GPU-a", memory=15360), standing=[running])
    )

    assert answer["FailedNodes"] == {"n1": "1/1 CardInsufficientMemory"}


def test_fc_046_a_profile_decides_about_a_group_at_zero() -> None:
    given = rules(profiles=[profile("a10", pool="g")])
    group = node("g", labels={"pool": "g"})

    without = simulated(pod(gpu=1, gpumem=8000), group)
    fits = simulated(pod(gpu=1, gpumem=8000), group, given=given)
    unfit = simulated(pod(gpu=1, gpumem=30000), group, given=given)

    assert reasons(without) == {"g": "node unregistered"}
    assert fitting(fits) == ["g"]
    assert reasons(unfit) == {"g": "1/1 CardInsufficientMemory"}


def test_fc_052_a_template_copied_from_a_live_node_is_taken_as_a_new_one() -> None:
    sick = card("GPU-a", is_healthy=False)
    copied = node("t", sick, notes={"hami.io/device-cordon": "GPU-a", "hami.io/mutex.lock": "x"})

    answer = simulated(pod(gpu=1, gpumem=8000), copied)
    kept = simulated(pod(gpu=1, gpumem=8000), copied, keeps=True)

    assert answer["allocations"]["t"]["hami.io/vgpu-devices-allocated"] == (
        "template-t-0,NVIDIA,8000,0:;"
    )
    assert reasons(kept) == {"t": "1/1 CardNotHealth"}


def test_nodes_go_back_byte_for_byte() -> None:
    odd = b'{ "metadata":{"name":"t","annotations":{}}, "spec":{"a" : 1.50, "b":"\\u00e9"}}'
    call = b'{"Pod":%b,"Nodes":{"items":[%b]}}' % (json.dumps(pod(cpu=1)).encode(), odd)

    answer = filter_simulation(call, rules())

    assert odd in answer.body
    assert (answer.tally.nodes, answer.fitting) == (1, 1)


def test_t132_a_pod_without_devices_gets_its_nodes_back() -> None:
    nodes = [node("a"), node("b", card())]

    answer = simulated(pod(cpu=1), *nodes)

    assert (answer["Nodes"]["items"], answer["allocations"]) == (nodes, {})


def test_what_evicting_pods_could_help_is_told_apart_from_what_it_could_not() -> None:
    full = short("x", gpu=1, gpumem=20000)
    nodes = [
        node("full", card(), standing=[full]),
        node("small", card(memory=1000), standing=[short("x", gpu=1, gpumem=900)]),
        node("none"),
        node("bad", notes={"hami.io/node-nvidia-register": "["}),
    ]

    answer = simulated(pod(gpu=1, gpumem=8000), *nodes)

    assert answer["FailedNodes"] == {"full": "1/1 CardInsufficientMemory"}
    assert answer["FailedAndUnresolvableNodes"].keys() == {"small", "none", "bad"}


def test_an_allocation_that_was_returned_can_be_carried_instead_of_a_pod() -> None:
    asked = pod(gpu=1, gpumem=10240)
    first = simulated(asked, node("t", *cards(2)))["allocations"]["t"]
    carried = {"name": "p1", "allocations": first, "containers": [{}]}

    by_allocation = simulated(asked, node("t", *cards(2), standing=[carried]))
    by_pod = simulated(asked, node("t", *cards(2), standing=[short("p1", gpu=1, gpumem=10240)]))
    on_a_copy = simulated(asked, node("t-7", *cards(2), standing=[carried]))

    assert by_allocation["allocations"] == by_pod["allocations"]
    assert by_allocation["allocations"]["t"] != first
    assert fitting(on_a_copy) == ["t-7"]


def test_real_allocations_count_whether_ids_are_reset_or_kept() -> None:
    held = {
        "name": "r",
        "annotations": {"hami.io/vgpu-devices-allocated": "GPU-1,NVIDIA,20000,0:;"},
        "containers": [{}],
    }
    real = node("n", *cards(2), standing=[held])

    reset = simulated(pod(gpu=2, gpumem=8000), real)
    kept = simulated(pod(gpu=2, gpumem=8000), real, keeps=True)

    assert reasons(reset) == reasons(kept)
    assert "1/2 CardInsufficientMemory" in reasons(reset)["n"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[", "device allocation of pods unreadable: springtide.io/simulated-pods: "),
        ('[{"containers":[]}]', "has neither uid nor name"),
        ('[{"name":"a"},{"name":"a"}]', "two pods have the same uid"),
        (
            '[{"name":"a","annotations":{"hami.io/vgpu-devices-allocated":"x,y:;"}}]',
            "device allocation of pod default/a unreadable",
        ),
        (
            json.dumps([short("big", gpu=1, gpumem=30000)]),
            "device allocation of pod n/big impossible: 1/1 CardInsufficientMemory",
        ),
    ],
)
def test_pods_that_cannot_be_put_on_their_node_close_it_alone(text: str, reason: str) -> None:
    bad, good = node("bad", card(), notes={PODS: text}), node("good", card())

    answer = simulated(pod(gpu=1, gpumem=100), bad, good)

    assert fitting(answer) == ["good"]
    assert reason in answer["FailedNodes"]["bad"]


def test_the_profile_that_a_node_names_comes_before_the_one_that_selects_it() -> None:
    given = rules(profiles=[profile("a", pool="g"), profile("b", memory=1000, pool="h")])
    named = node("named", labels={"pool": "g"}, notes={PROFILE: "b"})
    missing = node("missing", labels={"pool": "g"}, notes={PROFILE: "c"})
    registered = node("registered", card(memory=9000), labels={"pool": "h"})

    answer = simulated(pod(gpu=1, gpumem=8000), named, missing, registered, given=given)

    assert fitting(answer) == ["registered"]
    assert reasons(answer)["named"] == "1/1 CardInsufficientMemory"
    assert reasons(answer)["missing"].startswith("device profile missing: c is named")


def test_profiles_that_select_one_node_and_differ_decide_nothing() -> None:
    given = rules(profiles=[profile("a", pool="g"), profile("b", memory=1000, pool="g")])

    answer = simulated(pod(), node("g", labels={"pool": "g"}), given=given)

    assert reasons(answer)["g"].startswith("device profile ambiguous: a, b")


def test_a_pod_that_names_a_device_fits_no_template() -> None:
    asked = pod(annotations={"nvidia.com/use-gpuuuid": "GPU-a"})

    assert reasons(simulated(asked, node("t", card("GPU-a")))) == {"t": "1/1 CardUuidMismatch"}
    assert fitting(simulated(asked, node("t", card("GPU-a")), keeps=True)) == ["t"]


@pytest.mark.parametrize(
    ("call", "outcome", "why"),
    [
        (b"", "Malformed", "empty"),
        (b"{", "Malformed", "JSON"),
        (b"[]", "Malformed", "object"),
        (body(pod(), node("")), "Invalid", "Nodes.items[0] has no name"),
        (body(pod(), node("a"), node("b"), node("a")), "Invalid", "two nodes with the name a"),
        (b'{"Pod":{"metadata":{"name":7}},"Nodes":{}}', "Malformed", "Pod cannot be read"),
        (b'{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[7]}}', "Malformed", "items[0]"),
        (b'{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":7}}', "Malformed", "items"),
        (body(pod(), *(node(str(n)) for n in range(4))), "Invalid", "at most 3"),
    ],
)
def test_what_cannot_be_answered_says_why(call: bytes, outcome: str, why: str) -> None:
    answer = filter_simulation(call, rules(bounds=Bounds(nodes_max=3)))

    assert answer.outcome == outcome
    assert read(answer.body)["Error"].startswith(f"{outcome}: ")
    assert why in read(answer.body)["Error"]


def test_what_follows_a_body_is_not_looked_at() -> None:
    call = body(pod(), node("t", card()))

    assert (
        filter_simulation(call + b" trailing", rules()).body
        == filter_simulation(call, rules()).body
    )


def test_metadata_is_found_wherever_it_stands_in_a_node() -> None:
    registered = node("t", card())
    turned = dict(reversed(registered.items()))
    hidden = {"spec": {"x": {"y": 1}, "spec": 2}, "metadata": registered["metadata"]}
    large = node("t", card(), notes={"note": "x" * 20_000})
    full = {**registered, "status": {"filling": "x" * 20_000}}
    last = {"status": {}, "spec": {"filling": "x" * 20_000}, "metadata": registered["metadata"]}
    bodies = [registered, turned, hidden, large, full, last]

    answers = [filter_simulation(_compact(pod(), each), rules()) for each in bodies]

    assert [fitting(read(answer.body)) for answer in answers] == [["t"]] * 6


def _compact(asked: Json, *nodes: Json) -> bytes:
    """The body of a call as Go writes it, without blanks."""
    call = {"Pod": asked, "Nodes": {"items": nodes}}
    return json.dumps(call, separators=(",", ":")).encode()


def test_registrations_that_differ_in_more_than_ids_are_told_apart() -> None:
    nodes = [
        node("a", card("GPU-1"), card("GPU-2")),
        node("b", card("GPU-3"), card("GPU-4", memory=1000)),
        node("c", card("GPU-5"), card("GPU-5")),
        node("d", card("GPU-6"), card('GPU-"')),
        node("e", mig_card("GPU-7"), mig_card("GPU-8")),
    ]
    given = rules()

    together = simulated(pod(gpu=2, gpumem=4000), *nodes, given=given)
    alone = [simulated(pod(gpu=2, gpumem=4000), each, given=rules()) for each in nodes]

    assert fitting(together) == [name for answer in alone for name in fitting(answer)]
    assert reasons(together) == {k: v for answer in alone for k, v in reasons(answer).items()}
    assert together["allocations"] == {
        k: v for answer in alone for k, v in answer["allocations"].items()
    }


def test_allocations_can_be_read_with_any_name_of_a_node() -> None:
    answer = simulated(pod(gpu=1, gpumem=100), node('odd "n", ;:', card()))

    assert answer["allocations"]['odd "n", ;:']["hami.io/vgpu-devices-allocated"] == (
        "template-odd--n------0,NVIDIA,100,0:;"
    )


def test_a_profile_of_an_unknown_vendor_is_not_used_in_part() -> None:
    known = profile("known", pool="g")
    devices = (*known.devices, ("Strange", known.devices[0][1]))
    strange = replace(known, name="strange", devices=devices)

    given = rules(profiles=[strange])

    assert [each.name for each in given.left_out] == ["strange"]
    assert reasons(simulated(pod(), node("g", labels={"pool": "g"}), given=given)) == {
        "g": "node unregistered"
    }


def test_no_node_is_expected_of_a_profile_whose_nodes_turned_out_different() -> None:
    degraded = replace(profile("a10", pool="g"), degraded="1 of 3 nodes differs")

    told = reasons(
        simulated(pod(), node("g", labels={"pool": "g"}), given=rules(profiles=[degraded]))
    )

    assert told == {"g": "device profile degraded: a10: 1 of 3 nodes differs"}

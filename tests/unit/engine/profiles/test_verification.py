"""What becomes of nodes that register what their profile promises, or do not."""

from typing import Any

import pytest
from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.engine.profiles.events import Quarantine, Release, WriteStatus
from springtide.engine.profiles.judging import Standing
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.profile import MISMATCH_TAINT
from tests.profiles import CARDS
from tests.verifying import NOW_S, READY_S, World, a_node, cards

MINE = Taint(key=MISMATCH_TAINT, value="a10", effect="NoSchedule")
THEIRS = Taint(key=MISMATCH_TAINT, effect="NoSchedule")


def world(*nodes: Node, **spec: Any) -> World:
    """Return a world with one profile and these nodes, judged."""
    made = World()
    made.promise(**spec)
    made.put(*nodes)
    made.settle()
    return made


def test_a_node_as_promised_verifies_its_profile() -> None:
    seen = world(a_node())

    assert seen.events() == [("n1", "DeviceProfileVerified")]
    assert seen.said() == {
        "Valid": ("True", "Accepted"),
        "Verified": ("True", "DeviceProfileVerified"),
        "Degraded": ("False", "AsPromised"),
    }
    assert seen.status().observed_nodes == 1
    assert seen.status().verified_nodes == 1
    assert seen.status().last_verified
    assert seen.tainted() == []


def test_a_node_with_more_counts_as_verified() -> None:
    seen = world(a_node(devices=cards(3)))

    assert seen.events() == [("n1", "DeviceProfileExceeded")]
    assert seen.said()["Verified"] == ("True", "DeviceProfileExceeded")
    (_, devices), *_ = seen.status().last_verified
    assert len(devices) == 2


def test_a_node_with_less_is_quarantined_and_degrades_its_profile() -> None:
    seen = world(a_node("n1"), a_node("n2", cards(1)))

    assert seen.nodes["n2"].taints == (MINE,)
    assert seen.tainted() == ["n2"]
    assert seen.said()["Verified"] == ("False", "DeviceProfileMismatch")
    assert seen.said()["Degraded"] == ("True", "DeviceProfileMismatch")
    (mismatch,) = seen.status().mismatches
    assert (mismatch.node, mismatch.message) == (
        "n2",
        "NVIDIA devices: count is 1, 2 promised.",
    )
    assert seen.machine.differing == {"count": 1}


def test_a_node_that_is_only_reported_stays_open() -> None:
    seen = world(a_node(devices=cards(1)), onMismatch="Report")

    assert seen.events() == [("n1", "DeviceProfileMismatch")]
    assert seen.tainted() == []
    assert seen.said()["Verified"] == ("False", "DeviceProfileMismatch")
    assert seen.said()["Degraded"][0] == "False"


def test_what_nodes_agree_on_is_adopted_and_expected_from_then_on() -> None:
    seen = world(
        a_node("n1", cards(memory_mib=8192)),
        a_node("n2", cards(memory_mib=8192)),
        onMismatch="Adopt",
    )

    assert seen.tainted() == []
    assert seen.said()["Verified"] == ("True", "DeviceProfileAdopted")
    (_, devices), *_ = seen.status().last_verified
    assert [each.memory_mib for each in devices] == [8192, 8192]

    seen.put(a_node("n3"), a_node("n4", cards(memory_mib=8192)))
    seen.settle()

    assert ("n3", "DeviceProfileExceeded") in seen.events()
    assert ("n4", "DeviceProfileVerified") in seen.events()
    assert seen.status().verified_nodes == 4


def test_nothing_is_adopted_from_nodes_that_do_not_agree() -> None:
    nodes = [a_node("n1", cards(memory_mib=8192)), a_node("n2", cards(memory_mib=4096))]

    seen = world(*nodes, onMismatch="Adopt")

    assert seen.said()["Degraded"] == ("True", "DevicesHeterogeneous")
    assert seen.status().last_verified == ()


def test_the_weakest_is_adopted_where_that_is_enough() -> None:
    nodes = [a_node("n1", cards(memory_mib=8192)), a_node("n2", cards(memory_mib=4096))]

    seen = world(*nodes, onMismatch="Adopt", homogeneity="Minimum")

    (_, devices), *_ = seen.status().last_verified
    assert [each.memory_mib for each in devices] == [4096, 4096]
    assert seen.said()["Verified"] == ("True", "DeviceProfileAdopted")


def test_a_profile_that_is_changed_is_what_counts_again() -> None:
    seen = world(a_node(devices=cards(memory_mib=8192)), onMismatch="Adopt")

    seen.promise(devices=[{**CARDS, "memoryMiB": 8000}], onMismatch="Adopt")
    seen.settle()

    assert seen.said()["Verified"] == ("True", "DeviceProfileExceeded")
    (_, devices), *_ = seen.status().last_verified
    assert [each.memory_mib for each in devices] == [8000, 8000]


def test_a_registration_that_cannot_be_read_is_a_mismatch() -> None:
    seen = world(a_node(text="[{"))

    assert seen.events() == [("n1", "DeviceRegistrationMalformed")]
    assert seen.tainted() == ["n1"]
    assert "hami.io/node-nvidia-register" in seen.told[0].message


@pytest.mark.parametrize(
    ("after_s", "reason"), [(599, "AwaitingRegistration"), (600, "DeviceRegistrationTimeout")]
)
def test_a_node_has_so_long_from_ready_on_to_register(after_s: float, reason: str) -> None:
    seen = World()
    seen.promise()
    seen.put(a_node(devices=()))

    for command in seen.machine.tick(now_s=READY_S + after_s):
        seen.perform(command)

    assert seen.said()["Verified"][1] == reason
    assert seen.tainted() == []


def test_a_node_that_registers_after_all_is_as_promised() -> None:
    seen = World()
    seen.promise(registrationTimeout="1s")
    seen.put(a_node(devices=()))
    seen.settle()

    seen.put(a_node())
    seen.settle()

    assert [reason for _, reason in seen.events()] == [
        "DeviceRegistrationTimeout",
        "DeviceProfileVerified",
    ]
    assert seen.said()["Degraded"][0] == "False"


def test_a_node_that_is_not_ready_is_not_judged_and_keeps_its_taint() -> None:
    seen = world(a_node(taints=(MINE,), is_ready=False))

    assert seen.events() == []
    assert seen.tainted() == ["n1"]
    assert seen.said()["Verified"] == ("Unknown", "AwaitingRegistration")


@pytest.mark.parametrize(
    "mend",
    [
        lambda seen: seen.put(replace(a_node(), taints=seen.nodes["n1"].taints)),
        lambda seen: seen.promise(devices=[{**CARDS, "count": 1}]),
        lambda seen: seen.promise(onMismatch="Report"),
        lambda seen: seen.withdraw(),
        lambda seen: seen.put(
            replace(a_node(devices=cards(1), labels={}), taints=seen.nodes["n1"].taints)
        ),
    ],
    ids=["the node", "the promise", "the consequence", "no profile", "another pool"],
)
def test_the_taint_goes_once_nothing_is_wrong_any_more(mend: Any) -> None:
    seen = world(a_node(devices=cards(1)))
    assert seen.tainted() == ["n1"]

    mend(seen)
    seen.settle()

    assert seen.tainted() == []


def test_the_taint_of_somebody_else_stays_and_is_not_doubled() -> None:
    other = Taint(key=MISMATCH_TAINT, value="a10", effect="NoExecute")
    seen = world(a_node("good", taints=(THEIRS, other)), a_node("bad", cards(1), taints=(THEIRS,)))

    assert seen.nodes["good"].taints == (THEIRS, other)
    assert seen.nodes["bad"].taints == (THEIRS,)


def test_profiles_that_contradict_each_other_are_not_used_and_taints_stay() -> None:
    seen = world(a_node(devices=cards(1)))

    seen.promise("other", devices=[{**CARDS, "count": 4}])
    seen.settle()

    assert seen.said("a10")["Valid"] == ("False", "Contradicted")
    assert seen.said("other")["Valid"] == ("False", "Contradicted")
    assert seen.said("other")["Verified"] == ("Unknown", "NotUsed")
    assert seen.tainted() == ["n1"]

    seen.withdraw("other")
    seen.settle()

    assert seen.said("a10")["Valid"] == ("True", "Accepted")


def test_a_node_goes_by_the_profile_that_it_names() -> None:
    named = {"springtide.io/device-profile": "named"}
    seen = World()
    seen.promise("named", nodeSelector={"matchLabels": {"pool": "b"}})
    seen.put(a_node(labels={}, annotations=named))

    seen.settle()

    assert seen.status("named").verified_nodes == 1


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"devices": [{**CARDS, "vendor": "Acme"}]}, "UnknownVendor"),
        ({"devices": [{**CARDS, "numa": [0, 1, 2]}]}, "Invalid"),
    ],
)
def test_a_profile_of_no_use_says_so_and_decides_nothing(spec: dict[str, Any], reason: str) -> None:
    seen = world(a_node(devices=cards(1)), **spec)

    assert seen.said()["Valid"] == ("False", reason)
    assert seen.events() == []
    assert seen.tainted() == []
    message = seen.status().conditions[0].message
    assert "spec.devices" in message


def test_a_bad_profile_takes_no_other_one_down() -> None:
    seen = world(a_node())

    seen.promise("bad", devices=[{**CARDS, "count": 0}])
    seen.settle()

    assert seen.said("bad")["Valid"] == ("False", "Invalid")
    assert seen.said("a10")["Verified"] == ("True", "DeviceProfileVerified")


def test_who_starts_anew_says_nothing_again() -> None:
    seen = world(a_node("n1"), a_node("n2", cards(1)), a_node("n3", text="[{"))
    told = len(seen.told)

    seen.machine = seen.another()
    asked = seen.settle(now_s=NOW_S + 3600)

    assert asked == ()
    assert len(seen.told) == told


def test_who_does_not_lead_says_nothing() -> None:
    seen = World()
    seen.machine.lead(is_leading=False)
    seen.promise()
    seen.put(a_node(devices=cards(1)))

    assert seen.machine.tick(now_s=NOW_S) == ()


def test_what_was_not_performed_is_asked_for_again_after_a_while() -> None:
    seen = World()
    seen.promise()
    seen.put(a_node(devices=cards(1)))

    first = seen.machine.tick(now_s=NOW_S)
    for command in first:
        seen.machine.failed(command)
    at_once = seen.machine.tick(now_s=NOW_S + 1)
    later = seen.machine.tick(now_s=NOW_S + 6)

    assert {type(each) for each in first} >= {Quarantine, WriteStatus}
    assert at_once == ()
    assert {type(each) for each in later} == {Quarantine, WriteStatus}


def test_news_that_are_none_for_profiles_ask_for_nothing() -> None:
    seen = world(a_node())

    seen.put(replace(a_node(), annotations={**a_node().annotations, "hami.io/node-handshake": "x"}))

    assert seen.machine.tick(now_s=NOW_S + 1) == ()


def test_only_so_many_nodes_are_told_by_name() -> None:
    nodes = [a_node(f"n{each:02}", cards(1)) for each in range(40)]

    seen = world(*nodes, onMismatch="Report")

    assert seen.status().mismatched_nodes == 40
    assert len(seen.status().mismatches) == 32
    assert seen.status().mismatches[0].node == "n00"


def test_how_nodes_stand_can_be_counted() -> None:
    seen = world(a_node("n1"), a_node("n2", cards(1)))

    assert seen.machine.standings() == {
        ("a10", Standing.VERIFIED): 1,
        ("a10", Standing.MISMATCH): 1,
    }


def test_a_node_of_the_same_name_is_another_one() -> None:
    seen = world(a_node(devices=cards(1)))
    seen.drop("n1")
    seen.settle()
    assert seen.status().observed_nodes == 0

    seen.put(replace(a_node(devices=cards(1)), uid="another"))
    commands = seen.settle()

    (taint,) = [each for each in commands if isinstance(each, Quarantine)]
    assert taint.uid == "another"
    assert not [each for each in commands if isinstance(each, Release)]


def test_a_group_that_drops_to_zero_keeps_what_was_verified() -> None:
    seen = world(a_node())

    seen.drop("n1")
    seen.settle()

    assert seen.said()["Verified"] == ("Unknown", "NoNodes")
    assert seen.status().last_verified


def test_devices_that_no_profile_can_promise_are_not_adopted() -> None:
    odd: tuple[Device, ...] = cards(1, mode="strange", numa=-1)

    seen = world(a_node(devices=odd), onMismatch="Adopt")

    assert seen.said()["Degraded"] == ("True", "DevicesHeterogeneous")
    assert 'mode "strange"' in seen.status().conditions[2].message
    assert seen.status().last_verified == ()


def test_a_status_that_does_not_stay_is_not_written_without_end() -> None:
    seen = World()
    seen.promise()
    seen.put(a_node())

    writes = 0
    for second in range(120):
        for command in seen.machine.tick(now_s=NOW_S + second):
            writes += isinstance(command, WriteStatus)
        seen.show("a10")

    assert writes == 2

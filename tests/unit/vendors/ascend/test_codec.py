"""Registrations and allocations as they are read and written."""

import json

from msgspec import structs

from springtide.model.device import Allocation, Grant, Inventory
from springtide.model.node import Node
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import FAMILY, Ascend, AscendConfig
from springtide.vendors.ascend.config import DEFAULT_CHIPS
from tests.unit.vendors.ascend.building import (
    SOFT_NODE,
    allocated,
    chip,
    container,
    ids,
    pod,
    registered,
)

A = "Ascend910A"


def granted(*containers: tuple[Grant, ...]) -> Allocation:
    return Allocation(family="Ascend", containers=containers)


def grant(
    device_id: str, *, word: str = A, mib: int = 32768, cores: int = 0, cut: str = ""
) -> Grant:
    return Grant(device_id=device_id, type=word, memory_mib=mib, cores=cores, profile=cut)


def test_all_kinds_of_chip_are_one_inventory() -> None:
    node = registered(chip("a", word=A), chip("b", word="Ascend310P"))

    found = FAMILY.inventory(node)

    assert isinstance(found, Inventory)
    assert [device.id for device in found.devices] == ["a", "b"]


def test_a_node_without_chips_registers_nothing() -> None:
    assert FAMILY.inventory(Node(name="n")) is None
    assert (
        FAMILY.inventory(Node(name="n", annotations={f"hami.io/node-register-{A}": "[]"})) is None
    )


def test_one_malformed_registration_makes_no_smaller_node() -> None:
    node = registered(chip("a", word=A))
    broken = dict(node.annotations) | {"hami.io/node-register-Ascend310P": "[null]"}

    found = FAMILY.inventory(structs.replace(node, annotations=broken))

    assert isinstance(found, Refusal)
    assert found.text.startswith(
        "device registration malformed: hami.io/node-register-Ascend310P: "
    )


def test_a_node_supports_the_soft_split_as_it_says_or_as_configured() -> None:
    plain, soft = registered(chip()), registered(chip(), annotations=SOFT_NODE)
    refusing = registered(chip(), annotations={"hami-vnpu-core": "TRUE"})
    by_rule = Ascend(AscendConfig(chips=DEFAULT_CHIPS, has_soft_split=True))

    modes = [
        family.inventory(node).devices[0].mode  # type: ignore[union-attr]  # all are registered
        for family, node in [
            (FAMILY, plain), (FAMILY, soft), (FAMILY, refusing), (by_rule, plain),
            (by_rule, refusing),
        ]
    ]  # fmt: skip

    assert modes == ["", "hami-core", "", "hami-core", ""]


def test_t110_the_plugin_is_told_how_to_cut_a_chip() -> None:
    cut = granted((grant("device-0", mib=8738, cores=1, cut="vir08"),))

    notes = FAMILY.encode(cut)

    assert json.loads(notes[f"huawei.com/{A}"]) == [
        {"UUID": "device-0", "temp": "vir08", "memory": 8738, "core": 1}
    ]
    assert notes[allocated(A)] == notes[f"hami.io/{A}-devices-to-allocate"]
    assert notes[allocated(A)] == f"device-0,{A},8738,1:;"


def test_a_whole_chip_is_not_cut() -> None:
    notes = FAMILY.encode(granted((grant("device-0"),)))

    assert json.loads(notes[f"huawei.com/{A}"]) == [{"UUID": "device-0", "memory": 32768}]


def test_every_kind_of_chip_has_its_own_padded_annotation() -> None:
    both = granted((grant("a"),), (), (grant("b", word="Ascend310P", mib=3072),))

    notes = FAMILY.encode(both)

    assert notes[allocated(A)] == f"a,{A},32768,0:;;;"
    assert notes[allocated("Ascend310P")] == ";;b,Ascend310P,3072,0:;"


def test_what_was_written_is_read_back() -> None:
    both = granted((grant("a"),), (grant("b", word="Ascend310P"), grant("c", word="Ascend310P")))
    specs = container("main", A, count=1), container("main", "Ascend310P", count=2)

    assert FAMILY.decode(pod(*specs, annotations=FAMILY.encode(both))) == both


def test_a_short_list_is_dealt_to_the_containers_that_ask() -> None:
    written = {allocated(A): f"a,{A},32768,0:;"}
    running = pod(container("plain"), container("npu", A, count=1), annotations=written)

    allocation = FAMILY.decode(running)

    assert isinstance(allocation, Allocation)
    assert ids(allocation) == [[], ["a"]]


def test_ended_init_containers_hold_nothing() -> None:
    written = {allocated(A): f"a,{A},32768,0:;b,{A},32768,0:;"}
    running = structs.replace(
        pod(container("main", A, count=1), init=[container("i", A, count=1)], annotations=written),
        is_init_done=True,
    )

    allocation = FAMILY.decode(running)

    assert isinstance(allocation, Allocation)
    assert ids(allocation) == [[], ["b"]]


def test_an_unreadable_allocation_is_a_refusal() -> None:
    refusal = FAMILY.decode(pod(name="odd", annotations={allocated(A): f"a,{A},x,0:;"}))

    assert isinstance(refusal, Refusal)
    assert refusal.text.startswith(
        f"device allocation of pod team-a/odd unreadable: {allocated(A)}: invalid memory field"
    )


def test_a_pod_that_fell_back_to_pending_holds_nothing() -> None:
    written = {allocated(A): f"a,{A},32768,0:;", "hami.io/bind-phase": "failed"}

    assert FAMILY.decode(pod(annotations=written)) is None
    assert FAMILY.decode(pod()) is None

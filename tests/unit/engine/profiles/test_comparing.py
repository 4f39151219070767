"""What a node registers against what its profile promises."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.placement.unregistered import malformed
from springtide.engine.profiles.comparing import Outcome, compared, is_same
from springtide.model.device import Device, Inventory, MigPlacement, MigProfile
from springtide.model.profile import FamilyDevices, on_unknown_numa
from springtide.wire.crd.device_schema import DeviceEntry
from springtide.wire.crd.devices import to_devices
from springtide.wire.crd.writing import entries
from springtide.wire.origin import Origin
from springtide.wire.strict import read
from tests.builders import card

ORIGIN = Origin(source="p.yaml")
SHAPE = MigProfile(
    name="1g.5gb", memory_mib=4864, cores=15, slices=1, placements=(MigPlacement(6, 1),)
)


def cards(count: int = 2, **fields: Any) -> tuple[Device, ...]:
    return tuple(
        replace(card(f"GPU-{each}"), index=each, **{"mode": "hami-core", **fields})
        for each in range(count)
    )


def nvidia(devices: tuple[Device, ...]) -> FamilyDevices:
    return (("NVIDIA", devices),)


def outcome(promised: tuple[Device, ...], found: tuple[Device, ...]) -> Outcome:
    return compared(nvidia(promised), {"NVIDIA": Inventory("NVIDIA", found)}).outcome


def linked(*scores: tuple[int, int]) -> tuple[Device, ...]:
    first, second = cards()
    one, other = scores[0] if scores else (0, 0)
    return (
        replace(first, links=((second.id, one),)),
        replace(second, links=((first.id, other),)),
    )


def test_equal_devices_are_as_promised() -> None:
    assert outcome(cards(), cards()) is Outcome.VERIFIED


def test_ids_health_and_cordons_are_not_compared() -> None:
    found = tuple(
        replace(each, id=f"other-{each.index}", is_healthy=False, is_cordoned=True)
        for each in cards()
    )

    assert outcome(cards(), found) is Outcome.VERIFIED


@pytest.mark.parametrize("field", ["memory_mib", "cores", "slots"])
def test_less_of_a_size_is_a_mismatch_and_more_exceeds(field: str) -> None:
    low, high = cards(**{field: 9}), cards(**{field: 10})

    assert outcome(high, low) is Outcome.MISMATCH
    assert outcome(low, high) is Outcome.EXCEEDS


def test_fewer_devices_are_a_mismatch_and_more_exceed() -> None:
    assert outcome(cards(2), cards(1)) is Outcome.MISMATCH
    assert outcome(cards(1), cards(2)) is Outcome.EXCEEDS


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "other"},
        {"mode": "mps"},
        {"numa": 1},
        {"mig_profiles": (SHAPE,)},
    ],
)
def test_what_is_other_is_a_mismatch_even_where_there_is_more(fields: dict[str, Any]) -> None:
    found = cards(3, memory_mib=90000, **fields)

    comparison = compared(nvidia(cards()), {"NVIDIA": Inventory("NVIDIA", found)})

    assert comparison.outcome is Outcome.MISMATCH
    assert {each.field for each in comparison.differences} <= {
        "type",
        "mode",
        "numa",
        "migGeometries",
    }


def test_a_numa_node_that_is_not_known_is_not_compared() -> None:
    promised = tuple(on_unknown_numa(each, each.index) for each in cards())

    assert outcome(promised, cards(numa=7)) is Outcome.VERIFIED


def test_a_plugin_that_registers_no_mode_shares_as_usual() -> None:
    assert outcome(cards(), cards(mode="")) is Outcome.VERIFIED
    assert outcome(cards(mode="mig"), cards(mode="")) is Outcome.MISMATCH


def test_scores_are_compared_by_position_where_they_are_promised() -> None:
    assert outcome(linked((10, 20)), linked((10, 20))) is Outcome.VERIFIED
    assert outcome(linked((10, 20)), linked((20, 10))) is Outcome.MISMATCH
    assert outcome(cards(), linked((10, 20))) is Outcome.VERIFIED


def test_a_network_is_compared_where_it_is_promised() -> None:
    assert outcome(cards(network=1), cards(network=2)) is Outcome.MISMATCH
    assert outcome(cards(), cards(network=2)) is Outcome.VERIFIED


def test_a_family_that_is_not_described_exceeds() -> None:
    found = {name: Inventory(name, cards()) for name in ("NVIDIA", "Ascend")}

    assert compared(nvidia(cards()), found).outcome is Outcome.EXCEEDS


def test_a_family_that_is_missing_is_waited_for_unless_another_one_differs() -> None:
    promised = (("NVIDIA", cards()), ("Ascend", cards()))

    assert compared(promised, {}).missing == ("NVIDIA", "Ascend")
    assert (
        compared(promised, {"NVIDIA": Inventory("NVIDIA", cards())}).outcome is Outcome.UNREGISTERED
    )
    assert compared(promised, {"NVIDIA": Inventory("NVIDIA", cards(1))}).outcome is Outcome.MISMATCH


def test_a_registration_that_cannot_be_read_is_told_in_the_words_of_the_parser() -> None:
    found = compared(nvidia(cards()), {"NVIDIA": malformed("NVIDIA", "[0].count is a text")})

    assert found.outcome is Outcome.MALFORMED
    assert "[0].count is a text" in found.text


def test_the_first_difference_is_told_with_position_and_both_values() -> None:
    found = (cards()[0], replace(cards()[1], memory_mib=5, cores=3))

    text = compared(nvidia(cards()), {"NVIDIA": Inventory("NVIDIA", found)}).text

    assert text == "NVIDIA device 1: memoryMiB is 5, 24576 promised, and 1 more differs"


DEVICES = st.builds(
    Device,
    id=st.just(""),
    slots=st.integers(0, 3),
    memory_mib=st.integers(0, 3),
    cores=st.integers(0, 2),
    type=st.sampled_from(["a", "b"]),
    mode=st.sampled_from(["hami-core", "mps"]),
    numa=st.integers(0, 2),
    network=st.none() | st.integers(0, 2),
)
LISTS = st.lists(DEVICES, min_size=1, max_size=6).map(
    lambda devices: tuple(
        replace(each, id=f"d{index}", index=index) for index, each in enumerate(devices)
    )
)


@given(LISTS)
def test_what_is_written_is_read_back_as_the_same_promise(devices: tuple[Device, ...]) -> None:
    written = entries(nvidia(devices))

    back = to_devices(
        read(written, tuple[DeviceEntry, ...], origin=ORIGIN), origin=ORIGIN, path=("devices",)
    )

    assert is_same(back, nvidia(devices))


@given(LISTS, LISTS)
def test_who_exceeds_another_is_not_exceeded_by_it(
    one: tuple[Device, ...], other: tuple[Device, ...]
) -> None:
    there, back = outcome(one, other), outcome(other, one)

    if there is Outcome.VERIFIED:
        assert back in (Outcome.VERIFIED, Outcome.MISMATCH)
    if there is Outcome.EXCEEDS:
        assert back is Outcome.MISMATCH

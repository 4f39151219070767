"""MIG: which profile, where it sits, and what an unknown geometry means."""

import json

import pytest

from springtide.model.device import Allocation, MigPlacement, MigProfile, Share, Use
from springtide.vendors.nvidia import FAMILY, mig
from tests.unit.vendors.nvidia.building import (
    A100_PROFILES,
    ALLOCATED,
    MIG_ALLOCATIONS,
    ask,
    card,
    container,
    inventory,
    mig_card,
    place,
    pod,
    view,
)

MIG_POD = {"nvidia.com/vgpu-mode": "mig"}
TWO_SLICES = tuple(MigPlacement(start=start, size=2) for start in (0, 2, 4))


def test_t39_profiles_fill_a_card_from_both_ends() -> None:
    occupied: list[MigPlacement] = []

    for memory_mib in (20480, 10240, 5120, 5120):
        instance = mig.select(A100_PROFILES, occupied, memory_mib=memory_mib)
        assert instance is not None
        occupied.append(instance.placement)

    assert [placement.start for placement in occupied] == [4, 0, 3, 2]


def test_the_smallest_sufficient_profile_is_recorded() -> None:
    answer = FAMILY.place(
        ask(pod(container(gpu=1, mem=10000, cores=3), annotations=MIG_POD)), view(mig_card())
    )

    assert isinstance(answer, Allocation)
    ((grant,),) = answer.containers
    assert (grant.profile, grant.memory_mib, grant.cores) == ("2g.10gb", 10240, 28)
    assert grant.mig_placement == MigPlacement(start=0, size=2)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"mem": 10000}, "1/1 CardMigTopologyInfeasible"),
        pytest.param({"pct": 25}, "1/1 CardMigTopologyInfeasible", id="T38"),
        ({"mem": 5000}, [["GPU-m"]]),
    ],
)
def test_a_card_without_room_for_the_shape_refuses(
    limits: dict[str, str | int], expected: list[list[str]] | str
) -> None:
    node = view((mig_card(), Use(slots=3, memory_mib=30720, cores=84, occupied=TWO_SLICES)))

    assert place(pod(container(gpu=1, **limits), annotations=MIG_POD), node) == expected


def test_instances_of_one_request_do_not_overlap_and_refusals_are_counted() -> None:
    wanted = pod(container(gpu=2, mem=5000), annotations=MIG_POD)
    one_left = (mig_card(), Use(slots=3, memory_mib=30720, occupied=TWO_SLICES))

    refused = place(wanted, view(one_left))
    spread = place(wanted, view(one_left, mig_card("GPU-n", index=1)))

    assert refused == "1/1 AllocatedCardsInsufficientRequest, 1/1 CardMigTopologyInfeasible"
    assert not isinstance(spread, str)


def test_without_mig_cards_the_count_is_checked_first() -> None:
    wanted = pod(container(gpu=2, mem=4000))

    assert place(wanted, view(card())) == "NodeInsufficientDevice"
    assert place(wanted, view(mig_card())) == [["GPU-m", "GPU-m"]]


def test_a_mode_annotation_without_mig_keeps_mig_cards_out() -> None:
    wanted = pod(container(gpu=1, mem=1), annotations={"nvidia.com/vgpu-mode": "hami-core"})

    assert place(wanted, view(mig_card())) == "1/1 CardTypeMismatch"


def test_reservations_are_written_by_position_and_read_back() -> None:
    wish = ask(pod(container("a"), container("b", gpu=2, mem=4000), annotations=MIG_POD))
    allocation = FAMILY.place(wish, view(mig_card()))
    assert isinstance(allocation, Allocation)

    written = FAMILY.encode(allocation)
    read = FAMILY.decode(pod(container("a"), container("b", gpu=2, mem=4000), annotations=written))

    entries = json.loads(written[MIG_ALLOCATIONS])
    assert [(e["containerIndex"], e["deviceIndex"]) for e in entries] == [(1, 0), (1, 1)]
    assert written[ALLOCATED] == ";GPU-m,NVIDIA,5120,14:GPU-m,NVIDIA,5120,14:;"
    assert read == allocation


def test_one_pods_instances_on_a_card_are_one_slot_and_all_placements() -> None:
    wish = ask(pod(container(gpu=2, mem=4000), annotations=MIG_POD))
    allocation = FAMILY.place(wish, view(mig_card()))
    assert isinstance(allocation, Allocation)

    shares = FAMILY.shares(allocation, inventory(mig_card()))

    assert sum(share.memory_mib for share in shares) == 10240
    placements = [placement.start for share in shares for placement in share.occupied]
    assert sorted(placements) == [5, 6]
    assert not any(share.is_opaque for share in shares)


def test_cards_with_one_id_fail_when_the_first_of_them_is_full() -> None:
    seven = (mig_card("twin"), Use(slots=1, occupied=(MigPlacement(start=1, size=7),)))
    node = view(seven, (mig_card("twin", index=1), seven[1]))

    answer = place(pod(container(gpu=2, mem=5000), annotations=MIG_POD), node)

    assert answer == (
        "AddResourceUsage failed for device twin: MIG profile and placement allocation failed"
    )


RESERVATION = json.dumps(
    [
        {
            "containerIndex": 0,
            "deviceIndex": 0,
            "gpuUUID": "GPU-m",
            "profile": "1g.5gb",
            "placement": {"start": 6, "size": 1},
        }
    ]
)


def shares_read(*, allocated: str, reserved: str | None, mode: str = "mig") -> tuple[Share, ...]:
    notes = {ALLOCATED: allocated} | ({} if reserved is None else {MIG_ALLOCATIONS: reserved})
    allocation = FAMILY.decode(pod(container(gpu=1), annotations=notes))
    assert isinstance(allocation, Allocation)
    devices = (mig_card() if mode == "mig" else card("GPU-m", mode=mode), mig_card("GPU-n"))
    return FAMILY.shares(allocation, inventory(*devices))


@pytest.mark.parametrize("reserved", [None, "[{", "[{}]"])
def test_an_instance_without_a_readable_reservation_closes_its_card(reserved: str | None) -> None:
    (share,) = shares_read(allocated="GPU-m,NVIDIA,5120,14:;", reserved=reserved)

    assert share == Share(position=0, slots=1, memory_mib=5120, cores=14, is_opaque=True)


def test_a_readable_reservation_occupies_its_placement() -> None:
    (share,) = shares_read(allocated="GPU-m,NVIDIA,5120,14:;", reserved=RESERVATION)

    assert share.occupied == (MigPlacement(start=6, size=1),)
    assert not share.is_opaque


def test_a_reservation_on_a_card_that_is_not_cut_closes_it() -> None:
    shares = shares_read(allocated="GPU-m,NVIDIA,5120,14:;", reserved=RESERVATION, mode="hami-core")

    assert [share.is_opaque for share in shares] == [True, True]
    assert {share.position for share in shares} == {0}


def test_a_reservation_without_a_grant_still_occupies_its_card() -> None:
    (share,) = shares_read(allocated=";", reserved=RESERVATION)

    assert share == Share(position=0, slots=0, occupied=(MigPlacement(start=6, size=1),))


def test_a_reservation_for_an_unknown_card_closes_all_mig_cards() -> None:
    shares = shares_read(allocated=";", reserved=RESERVATION.replace("GPU-m", "GPU-gone"))

    assert [(share.position, share.is_opaque) for share in shares] == [(0, True), (1, True)]
    mixed = shares_read(
        allocated=";", reserved=RESERVATION.replace("GPU-m", "GPU-gone"), mode="hami-core"
    )
    assert [share.position for share in mixed] == [1]


def test_a_profile_that_is_listed_twice_has_the_first_ones_placements() -> None:
    first = MigProfile(
        name="2g", memory_mib=20, cores=1, slices=1, placements=(MigPlacement(start=4, size=1),)
    )
    second = MigProfile(
        name="2g", memory_mib=10, cores=1, slices=1, placements=(MigPlacement(start=0, size=1),)
    )

    instance = mig.select((first, second), (), memory_mib=5)

    assert instance is not None
    assert (instance.profile, instance.placement.start) == (second, 4)

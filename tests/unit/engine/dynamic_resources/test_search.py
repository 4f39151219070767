"""The search for devices on one node."""

from collections.abc import Sequence

import pytest

from springtide.base.taints import Taint, Toleration
from springtide.engine.dynamic_resources.faults import AllocationFault, SearchTooLong
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import pools_of, view
from springtide.engine.dynamic_resources.requests import WantedClaim
from springtide.engine.dynamic_resources.search import DEVICES_MAX, Search
from springtide.model.device_slices import OfferedDevice, ResourceSlice
from springtide.model.device_usage import DeviceUsage
from springtide.model.node import Node
from springtide.model.resource_claims import ALL, ClaimAllocation, DeviceRequest
from tests.offers import (
    ByAttribute,
    distinct,
    first_of,
    given,
    offered,
    request,
    same,
    share,
    sliced,
    wanted,
)

Names = list[list[str]]


def search(
    claims: Sequence[WantedClaim], *slices: ResourceSlice, used: Sequence[ClaimAllocation] = ()
) -> Search:
    seen = (view(pool, Node(name="a")) for pool in pools_of(slices))
    views = [each for each in seen if each is not None]
    return Search(claims, views, DeviceUsage(used).of, Matching(ByAttribute()))


def found(
    claims: Sequence[WantedClaim] | WantedClaim,
    *slices: ResourceSlice,
    used: Sequence[ClaimAllocation] = (),
) -> Names | None:
    """Return the devices of each claim, by their names."""
    several = [claims] if isinstance(claims, WantedClaim) else claims
    answer = search(several, *slices, used=used).find()
    if answer is None:
        return None
    return [[each.candidate.device.name for each in claim] for claim in answer]


def numbered(*values: int) -> list[OfferedDevice]:
    """Return devices, each with an attribute of one of these values."""
    return [offered(f"d{index}", {"numa": value}) for index, value in enumerate(values)]


def test_the_first_free_devices_are_taken() -> None:
    devices = sliced(*numbered(0, 0, 0, 0))

    assert found(wanted(request(count=2)), devices, used=[given("d0", "d2")]) == [["d1", "d3"]]
    assert found(wanted(request(count=3)), devices, used=[given("d0", "d2")]) is None


def test_claims_do_not_get_the_same_device() -> None:
    claims = [wanted(request()), wanted(request())]

    assert found(claims, sliced(*numbered(0, 0))) == [["d0"], ["d1"]]
    assert found(claims, sliced(*numbered(0))) is None


def test_a_choice_that_leads_nowhere_is_taken_back() -> None:
    asked = wanted(request("any"), request("late", selector="numa=0"))

    assert found(asked, sliced(*numbered(0, 1))) == [["d1", "d0"]]


def test_devices_meet_the_constraints_of_their_claim() -> None:
    devices = sliced(*numbered(0, 1, 1, 0))

    alike = wanted(request(count=2), constraints=[same("numa")])
    apart = wanted(request(count=2), constraints=[distinct("numa")])

    assert found(alike, devices, used=[given("d3")]) == [["d1", "d2"]]
    assert found(apart, devices) == [["d0", "d1"]]


def test_the_first_alternative_that_works_is_taken() -> None:
    asked = wanted(first_of(request("s0", 3), request("s1", 2), request("s2", 1)))
    devices = sliced(*numbered(0, 0))

    answer = search([asked], devices).find()

    assert answer is not None
    assert [(each.wanted.name, each.wanted.worth) for each in answer[0]] == [("r/s1", 7)] * 2


def test_all_devices_must_be_free() -> None:
    asked = wanted(request(mode=ALL, selector="numa=0"))
    devices = sliced(*numbered(0, 1, 0))

    assert found(asked, devices) == [["d0", "d2"]]
    assert found(asked, devices, used=[given("d2")]) is None
    assert found(asked, sliced(*numbered(1))) is None


def test_all_devices_that_a_constraint_parts_are_a_fault() -> None:
    asked = wanted(request(mode=ALL), constraints=[same("numa")])

    with pytest.raises(AllocationFault, match=r"request r: cannot add device .*/a/d1 because"):
        found(asked, sliced(*numbered(0, 1)))


@pytest.mark.parametrize(
    ("slices", "state"),
    [
        ([sliced(*numbered(0), count=2)], "currently being updated"),
        ([sliced(offered("x"), offered("x"))], "currently invalid"),
    ],
)
def test_all_devices_of_a_pool_that_is_not_whole_are_a_fault(
    slices: list[ResourceSlice], state: str
) -> None:
    with pytest.raises(AllocationFault, match=f"resource pool .*/a is {state}"):
        found(wanted(request(mode=ALL)), *slices)


def test_pools_that_are_not_whole_are_passed_over() -> None:
    incomplete = sliced(offered("x"), pool="x", count=2)
    invalid = sliced(offered("y"), offered("y"), pool="y")
    asked = search([wanted(request())], incomplete, invalid)

    answer = asked.find()

    assert answer is None
    assert asked.has_met_invalid_pool
    assert found(wanted(request()), incomplete, invalid, sliced(offered("z"), pool="z")) == [["z"]]


def test_admin_access_takes_devices_in_use_and_keeps_them_from_the_claim() -> None:
    devices = sliced(*numbered(0, 0))
    asked = wanted(request("watch", admin=True), request("use"))

    assert found(asked, devices, used=[given("d0", admin=True)]) == [["d0", "d1"]]
    assert found(asked, devices, used=[given("d1")]) == [["d1", "d0"]]
    assert found(asked, sliced(*numbered(0))) is None
    assert found(wanted(request(admin=True)), devices, used=[given("d0", "d1")]) == [["d0"]]


def test_a_shared_device_serves_several_requests_as_long_as_there_is_room() -> None:
    device = sliced(offered("d", capacity={"memory": "16Gi"}, is_shared=True))
    five = request("r0", capacity={"memory": "5Gi"})
    other = request("r1", capacity={"memory": "5Gi"})

    assert found(wanted(five, other), device) == [["d", "d"]]
    assert found(wanted(five, other), device, used=[share("d", memory="7Gi")]) is None


def test_a_request_for_two_devices_does_not_get_one_twice() -> None:
    device = sliced(offered("d", capacity={"memory": "16Gi"}, is_shared=True))

    assert found(wanted(request(count=2, capacity={"memory": "1Gi"})), device) is None


def test_partitions_share_counters() -> None:
    parts = [offered(name, takes={"slices": "4"}) for name in ("p0", "p1")]
    whole = offered("whole", takes={"slices": "7"})
    devices = sliced(*parts, whole, shared={"slices": "8"})

    assert found(wanted(request(count=2)), devices) == [["p0", "p1"]]
    assert found(wanted(request(count=3)), devices) is None
    assert found([wanted(request()), wanted(request())], devices, used=[given("p0")]) is None


@pytest.mark.parametrize(
    ("effect", "is_tolerated", "is_found"),
    [("NoSchedule", False, False), ("NoSchedule", True, True), ("None", False, True)],
)
def test_tainted_devices_need_a_toleration(
    effect: str, *, is_tolerated: bool, is_found: bool
) -> None:
    devices = sliced(offered("d", taints=[Taint(key="bad", effect=effect)]))
    tolerations = (Toleration(key="bad", operator="Exists"),) if is_tolerated else ()
    asked = wanted(DeviceRequest(name="r", class_name="gpu", tolerations=tolerations))

    assert (found(asked, devices) is not None) == is_found


def test_selectors_are_asked_only_of_devices_that_the_search_gets_to() -> None:
    lacking = offered("lacking")
    asked = wanted(request(selector="numa=0"))

    assert found(asked, sliced(*numbered(0), lacking)) == [["d0"]]
    with pytest.raises(AllocationFault, match=r"selector #0 on device .*/a/lacking: no such key"):
        found(asked, sliced(*numbered(1), lacking))


def test_a_selector_faults_also_where_too_few_devices_are_left() -> None:
    asked = wanted(request(count=2, selector="numa=0"))

    with pytest.raises(AllocationFault, match="no such key"):
        found(asked, sliced(*numbered(0), offered("lacking")))


def test_a_claim_gets_no_more_devices_than_allowed() -> None:
    devices = sliced(*numbered(*range(DEVICES_MAX + 1)))
    most = wanted(request(count=DEVICES_MAX))
    halves = wanted(
        first_of(request("s0", DEVICES_MAX), request("s1", 1), name="a"), request("b", 1)
    )

    with pytest.raises(AllocationFault, match="33 exceeds the claim limit of 32"):
        found(wanted(request(count=DEVICES_MAX + 1)), devices)

    assert found(most, devices) is not None
    assert found(halves, devices) == [["d0", "d1"]]


def test_a_request_that_no_device_can_meet_ends_the_search() -> None:
    devices = sliced(*numbered(*[0] * 32))
    hopeless = wanted(request("a", 8), request("b", 1, selector="numa=2"))

    assert found(hopeless, devices) is None


def test_a_search_without_end_is_given_up() -> None:
    devices = sliced(*numbered(*[0] * 16, *[1] * 16))
    endless = wanted(request("a", 8), request("b", 17), constraints=[same("numa", "b")])

    with pytest.raises(SearchTooLong, match="timed out"):
        found(endless, devices)
    with pytest.raises(SearchTooLong, match="timed out"):
        found([wanted(request(count=8))] * 100, devices)

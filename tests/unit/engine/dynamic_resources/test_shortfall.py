"""Which request a node cannot meet, and what there is too little of."""

import pytest

from springtide.base.taints import Taint
from springtide.engine.dynamic_resources.allocator import Allocator
from springtide.engine.dynamic_resources.shortfall import TOGETHER
from springtide.model.device_slices import ResourceSlice
from springtide.model.device_usage import DeviceUsage
from springtide.model.node import Node
from springtide.model.pod import PodSpec
from springtide.model.resource_claims import ClaimContent, DeviceRequest
from tests.offers import ByAttribute, claim, content, given, objects, offered, request, sliced

TWO = sliced(offered("d", {"model": "a"}), offered("e", {"model": "b"}))


def lacks(asked: ClaimContent, *slices: ResourceSlice, used: str = "") -> str:
    """Return what the node `a` lacks; one of its devices may be in use."""
    taken = [claim("used", allocation=given(used, pool="a"))] if used else []
    allocator = Allocator(objects(*slices, *taken), ByAttribute())
    wanted = allocator.wanted(asked, text="default/mine")
    judge = allocator.judge((wanted,), (asked,), extended=frozenset(), spec=PodSpec())
    offer = allocator.supply.offer(Node(name="a"), "a")
    return judge.shortfall(offer, allocator.usage(DeviceUsage()))


@pytest.mark.parametrize(
    ("asked", "slices", "used", "told"),
    [
        (request(), (), "", "1 device asked, none of class gpu"),
        (request(count=3), (TWO,), "", "3 devices asked, 2 of 2 of class gpu"),
        (request(selector="model=c"), (TWO,), "", "1 device asked, 0 of 2 as its selectors ask"),
        (request(selector="size=c"), (TWO,), "", "1 device asked, 0 of 2 as its selectors ask"),
        (request(selector="model=a"), (TWO,), "d", "1 device asked, 0 of 1 free"),
        (
            request(),
            (sliced(offered("d", taints=[Taint(key="k", effect="NoSchedule")])),),
            "",
            "1 device asked, 0 of 1 without taints",
        ),
    ],
)
def test_what_is_lacking_is_counted(
    asked: DeviceRequest, slices: tuple[ResourceSlice, ...], used: str, told: str
) -> None:
    found = lacks(content(asked), *slices, used=used)

    assert found == f"claim default/mine, request r: {told}"


def test_requests_that_only_fail_together_say_so() -> None:
    both = content(request("one", selector="model=a"), request("two", selector="model=a"))

    assert lacks(both, TWO) == TOGETHER


def test_an_alternative_that_could_be_met_is_not_what_is_lacking() -> None:
    lacking = content(request("one"), request("two", count=9))

    assert lacks(lacking, TWO).startswith("claim default/mine, request two: 9 devices asked")

"""The search for devices agrees with trying everything, and a node's answer with its search."""

from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.engine.dynamic_resources.allocator import Allocator
from springtide.engine.dynamic_resources.faults import AllocationFault
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import pools_of, view
from springtide.engine.dynamic_resources.requests import wanted_claim
from springtide.engine.dynamic_resources.search import Search
from springtide.model.device_slices import OfferedDevice
from springtide.model.device_usage import DeviceUsage
from springtide.model.node import Node
from springtide.model.pod import PodSpec
from springtide.model.resource_claims import (
    ClaimContent,
    DeviceConstraint,
    DeviceRequest,
    FirstAvailable,
)
from tests import offers
from tests.offers import ByAttribute, content, first_of, objects, offered, request, sliced
from tests.reference.devices import Unmeetable, first_solution

SLICES = 4
FAULT = "fault"
Names = list[tuple[int, str, str]]
"""Of each device: its claim's index, its request and its own name."""

DEVICES = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2])),
    min_size=1,
    max_size=5,
)
REQUESTS = st.builds(
    request,
    count=st.integers(1, 3),
    selector=st.sampled_from(["", "", "numa=0", "numa=1"]),
    mode=st.sampled_from(["ExactCount", "ExactCount", "ExactCount", "All"]),
    admin=st.sampled_from([False, False, True]),
)
CONSTRAINTS = st.builds(
    DeviceConstraint,
    attribute=st.sampled_from([f"{offers.DRIVER}/numa", f"{offers.DRIVER}/model"]),
    is_distinct=st.booleans(),
    requests=st.sampled_from([(), ("r0",), ("r1/s0",), ("r1",)]),
)


def named(name: str, asked: DeviceRequest) -> DeviceRequest:
    return DeviceRequest(
        **{**{key: getattr(asked, key) for key in asked.__struct_fields__}, "name": name}
    )


@st.composite
def claims(draw: st.DrawFn) -> ClaimContent:
    """Draw a claim with up to two requests, the second of which may have alternatives."""
    asked: list[DeviceRequest | FirstAvailable] = [named("r0", draw(REQUESTS))]
    if draw(st.booleans()):
        forms = draw(st.lists(REQUESTS, min_size=1, max_size=2))
        asked.append(first_of(*(named(f"s{i}", each) for i, each in enumerate(forms)), name="r1"))
    return content(*asked, constraints=draw(st.lists(CONSTRAINTS, max_size=2)))


def made(drawn: list[tuple[int, int, int]]) -> list[OfferedDevice]:
    """Return devices, each with its NUMA node, its model and how many slices it takes."""
    return [
        offered(
            f"d{index}",
            {"numa": numa, "model": model},
            takes={"slices": str(takes)} if takes else None,
        )
        for index, (numa, model, takes) in enumerate(drawn)
    ]


@settings(max_examples=400)
@given(
    drawn=DEVICES,
    asked=st.lists(claims(), min_size=1, max_size=2),
    used=st.frozensets(st.sampled_from(["d0", "d1", "d2"]), max_size=2),
)
def test_the_search_finds_what_trying_everything_finds_first(
    drawn: list[tuple[int, int, int]], asked: list[ClaimContent], used: frozenset[str]
) -> None:
    devices = made(drawn)
    used &= {each.name for each in devices}

    expected = tried(asked, devices, used)
    ours = searched(asked, devices, used)

    assert ours == expected


def tried(
    asked: list[ClaimContent], devices: list[OfferedDevice], used: frozenset[str]
) -> Names | str | None:
    """Return what trying everything finds first."""
    try:
        found = first_solution(asked, devices, used, {"slices": SLICES})
    except Unmeetable:
        return FAULT
    if found is None:
        return None
    return [(index, name, device.name) for index, name, _, device in found]


def searched(
    asked: list[ClaimContent], devices: list[OfferedDevice], used: frozenset[str]
) -> Names | str | None:
    """Return what the search finds."""
    wanted = [wanted_claim("x", each, {"gpu": offers.CLASS}) for each in asked]
    pools = pools_of([sliced(*devices, shared={"slices": str(SLICES)})])
    views = [each for pool in pools if (each := view(pool, Node(name="a"))) is not None]
    usage = DeviceUsage([offers.given(*used)])
    try:
        found = Search(wanted, views, usage.of, Matching(ByAttribute())).find()
    except AllocationFault:
        return FAULT
    if found is None:
        return None
    return [
        (index, each.wanted.name, each.candidate.device.name)
        for index, claim in enumerate(found)
        for each in claim
    ]


@settings(max_examples=100)
@given(
    nodes=st.lists(DEVICES, min_size=1, max_size=3),
    asked=claims(),
    taken=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4, unique=True),
)
def test_a_node_answers_alike_with_and_without_what_others_said(
    nodes: list[list[tuple[int, int, int]]], asked: ClaimContent, taken: list[tuple[int, int]]
) -> None:
    slices = [
        sliced(*made(drawn), node=f"n{index}", shared={"slices": str(SLICES)})
        for index, drawn in enumerate(nodes)
    ]
    placed = DeviceUsage(offers.given(f"d{device}", pool=f"n{node}") for node, device in taken)
    one = Allocator(objects(*slices), ByAttribute())

    for index in range(len(nodes)):
        alone = Allocator(objects(*slices), ByAttribute())
        answers = [
            allocator.judge(
                (allocator.wanted(asked, text="x"),), (asked,), extended=frozenset(), spec=PodSpec()
            ).answer(
                allocator.supply.offer(Node(name=f"n{index}"), f"n{index}"),
                allocator.usage(placed),
            )
            for allocator in (one, alone)
        ]

        assert answers[0] == answers[1]

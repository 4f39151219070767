"""What nodes say to claims, asked once of nodes that offer the same."""

from collections.abc import Sequence

from springtide.engine.dynamic_resources.allocator import Allocator
from springtide.engine.dynamic_resources.judging import (
    CANNOT_ALLOCATE,
    INVALID_POOLS,
    Answer,
    Judge,
)
from springtide.model.device_facts import DeviceFacts
from springtide.model.device_slices import NodeScope, ResourceSlice
from springtide.model.device_usage import DeviceUsage
from springtide.model.node import Node
from springtide.model.pod import PodSpec
from springtide.model.resource_claims import ClaimContent
from tests.offers import (
    ByAttribute,
    claim,
    content,
    first_of,
    given,
    objects,
    offered,
    request,
    sliced,
)

MODEL = content(request(selector="model=a"))


class Asking:
    """A cluster whose nodes are asked about one claim."""

    def __init__(self, asked: ClaimContent, *slices: ResourceSlice) -> None:
        self.selectors = ByAttribute()
        used = claim("used", allocation=given("d", pool="used"))
        self.allocator = Allocator(objects(*slices, used), self.selectors)
        self.placed = DeviceUsage()
        self.asked = asked

    @property
    def judge(self) -> Judge:
        wanted = self.allocator.wanted(self.asked, text="default/mine")
        return self.allocator.judge((wanted,), (self.asked,), extended=frozenset(), spec=PodSpec())

    def answers(self, *names: str) -> list[Answer]:
        usage = self.allocator.usage(self.placed)
        offers = [self.allocator.supply.offer(Node(name=name), name) for name in names]
        return [self.judge.answer(offer, usage) for offer in offers]

    def reasons(self, *names: str) -> Sequence[str]:
        return [each.reason for each in self.answers(*names)]


def one_each(*names: str) -> list[ResourceSlice]:
    return [sliced(offered("d", {"model": "a"}), node=name) for name in names]


def test_nodes_with_equal_devices_are_searched_once() -> None:
    asking = Asking(MODEL, *one_each("a", "b", "c"))

    reasons = asking.reasons("a", "b", "c")

    assert reasons == ["", "", ""]
    assert asking.selectors.asked == 1


class ReadsModel(ByAttribute):
    """Selectors whose expressions are written as Kubernetes writes them."""

    def matches(self, expression: str, device: DeviceFacts) -> bool:
        """Return whether the model is the one that the expression ends with."""
        return super().matches(f"model={expression[-2]}", device)


def test_attributes_that_nobody_reads_do_not_part_nodes() -> None:
    expression = 'device.attributes["gpu.example.com"].model == "a"'
    slices = [
        sliced(offered("d", {"model": "a", "uuid": name}), node=name) for name in ("a", "b", "c")
    ]
    asking = Asking(content(request(selector=expression)), *slices)
    asking.selectors = ReadsModel()
    asking.allocator = Allocator(objects(*slices), asking.selectors)

    reasons = asking.reasons("a", "b", "c")

    assert reasons == ["", "", ""]
    assert asking.selectors.asked == 1


def test_nodes_with_the_same_devices_in_use_answer_alike() -> None:
    asking = Asking(MODEL, *one_each("a", "b", "used"))
    asking.placed.take(given("d", pool="a"))

    assert asking.reasons("a", "b", "used", "none") == [
        CANNOT_ALLOCATE,
        "",
        CANNOT_ALLOCATE,
        CANNOT_ALLOCATE,
    ]


def test_what_is_given_back_is_free_again() -> None:
    asking = Asking(MODEL, *one_each("a"))
    asking.placed.take(given("d", pool="a"))

    asking.placed.take(given("d", pool="a"), sign=-1)

    assert asking.reasons("a") == [""]


def test_devices_that_several_nodes_reach_are_given_once() -> None:
    everywhere = sliced(
        offered("d", {"model": "a"}), pool="net", scope=NodeScope(is_everywhere=True)
    )
    asking = Asking(MODEL, everywhere)

    before = asking.reasons("a", "b")
    asking.placed.take(given("d", pool="net"))

    assert before == ["", ""]
    assert asking.reasons("a", "b") == [CANNOT_ALLOCATE, CANNOT_ALLOCATE]


def test_an_invalid_pool_is_named_where_nothing_else_helps() -> None:
    asking = Asking(MODEL, sliced(offered("d"), offered("d")))

    assert asking.reasons("a") == [INVALID_POOLS]


def test_a_fault_names_the_device_of_its_node() -> None:
    slices = [sliced(offered("d"), node=name) for name in ("a", "b")]

    answers = Asking(MODEL, *slices).answers("a", "b")

    assert [each.is_fault for each in answers] == [True, True]
    assert "/a/d: no such key" in answers[0].reason
    assert "/b/d: no such key" in answers[1].reason


def test_earlier_alternatives_score_higher() -> None:
    asked = content(first_of(request("s0", 2), request("s1", 1)))
    two = sliced(offered("d"), offered("e"), node="two")

    answers = Asking(asked, two, *one_each("one")).answers("two", "one")

    assert [each.score for each in answers] == [8, 7]


def test_equal_claims_have_one_judge() -> None:
    asking = Asking(MODEL)

    assert asking.judge is asking.judge

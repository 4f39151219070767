"""Expanders beside the published cases (`test_expander_rows`): devices, chains, what they say."""

from collections.abc import Sequence

import pytest

from springtide.engine.capacity.options import Choice, Judgement, Option, choose
from springtide.model.group import UNRANKED
from springtide.policies.expanders import (
    NAMES,
    LeastNodes,
    LeastWaste,
    MostPods,
    PriceModel,
    Priority,
    Random,
    UnknownExpander,
    chain,
    waste,
)
from tests.builders import node, pod, replicas
from tests.options import CARD_MIB, kept, option, priced, prices


class Drawn:
    """Chance that always draws the same index."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.counts: list[int] = []

    def choice_index(self, count: int) -> int:
        """Return the index, and remember among how many it was drawn."""
        self.counts.append(count)
        return self.index


POD = replicas(1, pod(cpu="500m", memory="1000Mi"))
BALANCED = option("balanced", pods=POD, of=node(cpu=16, memory="16Gi"))
HIGH_MEMORY = option("highmem", pods=POD, of=node(cpu=16, memory="32Gi"))


def test_equal_waste_is_kept_twice() -> None:
    twin = option("twin", pods=POD, of=node(cpu=16, memory="16Gi"))

    assert kept(LeastWaste(), [BALANCED, HIGH_MEMORY, twin]) == ["balanced", "twin"]


def test_waste_is_the_unused_part_of_each_resource() -> None:
    found = waste(option("g", nodes=2, pods=replicas(2, pod(cpu=4, memory="16Gi")), of=node(cpu=8)))

    assert (found.cpu, found.memory, found.total) == (0.5, 0.75, 1.25)
    assert found.text == "50% of cpu and 75% of memory stay free"


def test_unused_devices_are_waste() -> None:
    found = waste(option("g", pods=POD, card_count=2, card_memory_used=CARD_MIB))

    assert (found.device_memory, found.device_cores) == (0.5, 1.0)
    assert found.text.startswith("50% of device memory, 100% of device cores, ")


def test_a_group_without_devices_beats_one_whose_devices_stay_idle() -> None:
    idle = option("gpu", pods=POD, card_count=1)

    assert kept(LeastWaste(), [idle, option("cpu", pods=POD)]) == ["cpu"]


@pytest.mark.parametrize("price", [None, 0.0])
def test_groups_without_a_price_are_no_options(price: float | None) -> None:
    options = [option("ng1", pods=POD, price=price), option("ng2", pods=POD, price=price)]

    judgements = prices(preferred=2).judge(options)

    assert [each.is_kept for each in judgements] == [False, False]
    assert judgements[0].why == "the group has no price"


def test_a_group_with_devices_is_taken_only_if_there_is_no_other() -> None:
    gpu = option("gpu", pods=POD, price=1.0, card_count=1)

    assert kept(prices(preferred=8), [gpu, option("cpu", pods=POD, price=100.0)]) == ["cpu"]
    assert kept(prices(preferred=8), [gpu]) == ["gpu"]


@pytest.mark.parametrize(
    ("size", "expected"),
    [(2, 1000), (3, 2000), (20, 4000), (60, 8000), (200, 16000), (201, 32000)],
)
def test_the_sensible_size_of_a_node_grows_with_the_cluster(size: int, expected: int) -> None:
    assert PriceModel(cluster_size=size).preferred == expected


def test_a_priority_below_minus_one_never_wins() -> None:
    options = [option("a", priority=-2), option("b", priority=-1)]

    assert kept(Priority(), options) == ["b"]


def test_least_nodes_keeps_none_if_nobody_adds_a_node() -> None:
    assert kept(LeastNodes(), [option("none", nodes=0)]) == []


def test_chance_keeps_the_option_it_draws() -> None:
    chance = Drawn(1)

    assert kept(Random(chance), [option("a"), option("b"), option("c")]) == ["b"]
    assert chance.counts == [3]


@pytest.mark.parametrize(
    ("judgement", "why"),
    [
        (MostPods().judge([option("a", pods=POD)])[0], "lets 1 pod run"),
        (LeastNodes().judge([option("a", nodes=2)])[0], "adds 2 nodes"),
        (Priority().judge([option("a", priority=3)])[0], "priority 3"),
        (Priority().judge([option("a", priority=-2)])[0], "priority -2, which never wins"),
        (
            Priority().judge([option("a", priority=UNRANKED)])[0],
            "no pattern of the priorities matches it",
        ),
        (prices(preferred=2).judge([priced("a", 1.5, nodes=2)])[0], "3.00 an hour for 1 pods"),
    ],
)
def test_every_judgement_says_what_was_looked_at(judgement: Judgement, why: str) -> None:
    assert judgement.why == why


# Chains


def chosen(options: Sequence[Option], *names: str) -> Choice:
    return choose(options, chain(names, prices=PriceModel(), rng=Drawn(0)))


def test_a_chain_narrows_until_one_is_left() -> None:
    options = [
        option("a", nodes=2, pods=replicas(3, pod())),
        option("b", nodes=1, pods=replicas(3, pod())),
        option("c", nodes=1, pods=replicas(2, pod())),
    ]

    choice = chosen(options, "most-pods", "least-nodes")

    assert choice.option is options[1]
    assert choice.why == "least-nodes: adds 1 node"
    assert [(each.group.name, why) for each, why in choice.rejected] == [
        ("c", "most-pods: lets 2 pods run"),
        ("a", "least-nodes: adds 2 nodes"),
    ]


def test_what_is_still_equal_is_decided_by_the_order_of_the_groups() -> None:
    options = [option("b"), option("a")]

    choice = chosen(options, "least-nodes")

    assert choice.option is options[0]
    assert [(each.group.name, why) for each, why in choice.rejected] == [
        ("a", "as good as b, which is named first")
    ]


def test_an_only_option_is_taken_unseen() -> None:
    choice = chosen([option("a", pods=POD)], "price")

    assert choice.option is not None
    assert choice.why == "the only group that helps"


def test_nothing_is_chosen_if_an_expander_keeps_none() -> None:
    choice = chosen([option("a", pods=POD), option("b", pods=POD)], "price")

    assert choice.option is None
    assert [why for _, why in choice.rejected] == ["price: the group has no price"] * 2


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (("cheapest",), f"expander 'cheapest' does not exist: use {', '.join(NAMES)}"),
        (("price", "price"), "expander 'price' is named twice: name each once"),
        (("random", "price"), "expander 'random' leaves one option: put it last"),
    ],
)
def test_a_chain_that_makes_no_sense_is_refused(names: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UnknownExpander) as caught:
        chain(names, prices=PriceModel(), rng=Drawn(0))

    assert str(caught.value) == complaint


def test_every_name_makes_the_expander_of_that_name() -> None:
    made = chain(NAMES, prices=PriceModel(), rng=Drawn(0))

    assert tuple(each.name for each in made) == NAMES

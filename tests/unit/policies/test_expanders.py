"""Expanders: the published cases, and what devices add to them."""

from collections.abc import Sequence

import pytest

from springtide.engine.capacity.estimate import Estimate, NewNode
from springtide.engine.capacity.options import Choice, Expander, Judgement, Option, choose
from springtide.engine.capacity.start import DeviceTotals
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.policies.expanders import (
    NAMES,
    LeastNodes,
    LeastWaste,
    MostPods,
    Price,
    PriceModel,
    Priority,
    Random,
    UnknownExpander,
    chain,
    waste,
)
from tests.builders import cards, group, node, pod, replicas
from tests.estimates import template

CARD_MIB = 24576


class Drawn:
    """Chance that always draws the same index."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.counts: list[int] = []

    def choice_index(self, count: int) -> int:
        """Return the index, and remember among how many it was drawn."""
        self.counts.append(count)
        return self.index


def option(
    name: str,
    *,
    nodes: int = 1,
    pods: Sequence[Pod] = (),
    of: Node | None = None,
    price: float | None = None,
    priority: int = 0,
    card_count: int = 0,
    card_memory_used: int = 0,
) -> Option:
    devices = (
        DeviceTotals(
            family="NVIDIA",
            memory_used_mib=card_memory_used,
            memory_total_mib=nodes * card_count * CARD_MIB,
            cores_total=nodes * card_count * 100,
        ),
    )
    return Option(
        group=group(name, price=price, priority=priority),
        template=template(of or node(), devices=cards(card_count)),
        estimate=Estimate(
            nodes=tuple(NewNode(f"{name}-{index}", ()) for index in range(nodes)),
            placed=tuple(pods),
            left=(),
            devices=devices if card_count else (),
        ),
        size=0,
    )


def kept(expander: Expander, options: Sequence[Option]) -> list[str]:
    return [each.option.group.name for each in expander.judge(options) if each.is_kept]


POD = replicas(1, pod(cpu="500m", memory="1000Mi"))
BALANCED = option("balanced", pods=POD, of=node(cpu=16, memory="16Gi"))
HIGH_MEMORY = option("highmem", pods=POD, of=node(cpu=16, memory="32Gi"))
LOW_CPU = option("lowcpu", pods=POD, of=node(cpu=8, memory="16Gi"))


def test_x1_the_smaller_memory_wastes_less() -> None:
    assert kept(LeastWaste(), [BALANCED, HIGH_MEMORY]) == ["balanced"]


def test_x2_the_smaller_node_wastes_less() -> None:
    assert kept(LeastWaste(), [BALANCED, HIGH_MEMORY, LOW_CPU]) == ["lowcpu"]


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


def priced(name: str, price: float, *, nodes: int, pods: int = 1, cores: int = 2) -> Option:
    half = replicas(pods, pod(cpu="500m", memory="500Mi"))
    return option(name, nodes=nodes, pods=half, of=node(cpu=cores), price=price)


def prices(*, preferred: int) -> Price:
    return Price(
        PriceModel(per_core_hour=20.0, per_gib_hour=0.0, preferred_cpu_milli=preferred * 1000)
    )


def test_x3_the_cheaper_nodes_win() -> None:
    options = [priced("ng1", 20, nodes=2), priced("ng2", 200, nodes=1)]

    assert kept(prices(preferred=2), options) == ["ng1"]


def test_x4_a_node_of_sensible_size_may_cost_more() -> None:
    options = [priced("ng1", 50, nodes=2, cores=1), priced("ng2", 200, nodes=1, cores=4)]

    assert kept(prices(preferred=4), options) == ["ng2"]


def test_x5_the_sensible_size_matters_less_for_many_nodes() -> None:
    options = [
        priced("ng1", 20, nodes=80, pods=80, cores=1),
        priced("ng2", 200, nodes=40, pods=80, cores=4),
    ]

    assert kept(prices(preferred=4), options) == ["ng1"]


def test_x6_the_cheaper_of_two_equal_groups_wins() -> None:
    options = [priced("ng1", 200, nodes=1), priced("ng2", 100, nodes=1)]

    assert kept(prices(preferred=2), options) == ["ng2"]


def test_x7_what_runs_more_pods_on_fewer_nodes_wins() -> None:
    options = [priced("ng1", 200, nodes=2, pods=1), priced("ng2", 200, nodes=1, pods=2)]

    assert kept(prices(preferred=2), options) == ["ng2"]


@pytest.mark.parametrize("price", [None, 0.0])
def test_x8_groups_without_a_price_are_no_options(price: float | None) -> None:
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


def test_x10_the_highest_priority_wins_with_all_who_share_it() -> None:
    options = [option(name, priority=number) for name, number in (("a", 5), ("b", 9), ("c", 9))]

    assert kept(Priority(), options) == ["b", "c"]


def test_x10_a_priority_below_minus_one_never_wins() -> None:
    options = [option("a", priority=-2), option("b", priority=-1)]

    assert kept(Priority(), options) == ["b"]


def test_x10_if_no_priority_can_win_all_stay() -> None:
    options = [option("a", priority=-2), option("b", priority=-7)]

    assert kept(Priority(), options) == ["a", "b"]


def test_x12_most_pods_keeps_those_with_the_most() -> None:
    options = [option(str(count), pods=replicas(count, pod())) for count in (1, 2, 2)]

    assert [each.is_kept for each in MostPods().judge(options)] == [False, True, True]


def test_x12_least_nodes_passes_over_who_adds_none() -> None:
    options = [option(str(count), nodes=count) for count in (3, 1, 0)]

    assert kept(LeastNodes(), options) == ["1"]


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


def test_x8_nothing_is_chosen_if_an_expander_keeps_none() -> None:
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

"""Which group's next node would take the pod."""

from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.engine.explain import ChangeKind
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import cards, group, node, pod
from tests.explaining import Cluster

FULL = pod("holder", cpu=8, on="n1")


def told(who: Pod, *groups: NodeGroup) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what growing is proposed, and which groups refuse with which reason."""
    cluster = Cluster([node("n1", provider_id="old-1")], [FULL], groups=groups)
    found = cluster.explain(who)
    proposed = [each.text for each in found.changes if each.kind is ChangeKind.ADD_NODE]
    refused = [
        (each.group.group.name, each.refusal.text)
        for each in found.groups
        if each.refusal is not None
    ]
    return proposed, refused


def described(name: str) -> Node:
    """Return what a new node of a group is."""
    return node(name, cards=cards(1))


def test_one_more_node_of_a_group_that_would_do_is_proposed() -> None:
    proposed, refused = told(pod(cpu=2), group("old"))

    assert proposed == ["add 1 more node to group old (1 → 2)"]
    assert refused == []


def test_a_group_at_its_largest_size_says_so() -> None:
    proposed, refused = told(pod(cpu=2), group("old", max_size=1))

    assert proposed == []
    assert refused == [("old", "max node group size reached")]


def test_a_group_whose_node_refuses_says_why() -> None:
    proposed, refused = told(pod(cpu=9), group("old"))

    assert proposed == []
    assert refused == [("old", "Insufficient cpu")]


def test_a_group_without_a_template_says_so() -> None:
    _, refused = told(pod(cpu=2), group("empty"))

    assert refused == [("empty", "no template: the group has no node and the input describes none")]


def test_the_cheapest_group_comes_first_and_one_without_a_price_last() -> None:
    prices: tuple[float | None, ...] = (None, 9.0, 3.0)
    groups = [
        group(f"g{index}", template=described(f"t{index}"), price=price)
        for index, price in enumerate(prices)
    ]

    proposed, _ = told(pod(cpu=2), *groups)

    assert [each.split()[6] for each in proposed] == ["g2", "g1", "g0"]


def test_a_group_of_all_or_none_gets_all_its_nodes() -> None:
    whole = replace(group("whole", max_size=4, template=described("t")), is_zero_or_max=True)

    proposed, _ = told(pod(cpu=2), whole)

    assert proposed == ["add all 4 nodes, as it has none or all of them, to group whole (0 → 4)"]


def changes_of(who: Pod, *groups: NodeGroup) -> list[tuple[str, str]]:
    """Return the changes, each with where the pod fits then."""
    cluster = Cluster([node("n1", provider_id="old-1", cards=cards(1, memory=1000))], groups=groups)
    found = cluster.explain(who)
    cluster.stage.picture.ledger.check()
    return [(each.text, each.node) for each in found.changes]


def test_where_no_group_takes_the_pod_it_may_ask_as_much_as_a_new_node_has() -> None:
    larger = group("larger", template=described("t"))

    found = changes_of(pod(gpu=1, gpumem=30_000), larger)

    assert found == [
        ("ask nvidia.com/gpumem: 24576 instead of 30000", "a new node of larger"),
        ("ask nvidia.com/gpumem: 1000 instead of 30000", "n1"),
    ]


def test_a_group_whose_nodes_are_tainted_needs_a_toleration() -> None:
    tainted = replace(described("t"), taints=(Taint(key="team"),))

    found = changes_of(pod(gpu=1, gpumem=20_000), group("larger", template=tainted))

    assert found[0] == ("tolerate the taint team:NoSchedule", "a new node of larger")


def test_a_group_that_may_not_grow_is_not_counted_on() -> None:
    full = group("larger", template=described("t"), max_size=3, size=3)

    found = changes_of(pod(gpu=1, gpumem=30_000), full)

    assert [node for _, node in found] == ["n1"]

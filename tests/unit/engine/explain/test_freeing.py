"""Which pods of lower priority would have to go, devices in sight."""

from springtide.engine.explain import Change, ChangeKind
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import away, cards, node, pod
from tests.explaining import Cluster, running


def changes(who: Pod, *nodes: Node, placed: tuple[Pod, ...]) -> list[Change]:
    """Return the changes that would cost other pods their place."""
    found = Cluster(nodes, placed, asked=[who]).explain(who)
    return [each for each in found.changes if each.kind is ChangeKind.FREE_PODS]


def test_a_pod_of_lower_priority_that_holds_the_memory_has_to_go() -> None:
    low = running("low", "n1", card="GPU-0", gpumem=20_000)
    idle = running("idle", "n1", card="GPU-1", gpumem=20_000, priority=9)

    found = changes(
        pod(gpu=1, gpumem=10_000, priority=9), node("n1", cards=cards(2)), placed=(low, idle)
    )

    assert [each.text for each in found] == [
        "remove default/low from node n1 (priority 0, below 9)"
    ]
    assert [each.key for each in found[0].pods] == ["default/low"]


def test_the_node_that_loses_the_fewest_pods_is_told() -> None:
    two = [running(f"a{at}", "n1", card=f"GPU-{at}", gpumem=20_000, priority=at) for at in range(2)]
    one = [
        running("b0", "n2", card="GPU-0", gpumem=20_000, priority=3),
        running("b1", "n2", card="GPU-1", gpumem=1000, priority=3),
    ]
    nodes = [node(name, cards=cards(2)) for name in ("n1", "n2")]

    found = changes(pod(gpu=2, gpumem=20_000, priority=5), *nodes, placed=(*two, *one))

    assert [each.node for each in found] == ["n2"]
    assert [each.key for each in found[0].pods] == ["default/b0"]


def test_several_pods_are_told_with_the_highest_of_their_priorities() -> None:
    low = [running(f"p{at}", "n1", card=f"GPU-{at}", gpumem=9000, priority=at) for at in range(2)]

    found = changes(
        pod(gpu=2, gpumem=20_000, priority=5), node("n1", cards=cards(2)), placed=tuple(low)
    )

    assert [each.text for each in found] == [
        "remove default/p1, default/p0 from node n1 (priority at most 1, below 5)"
    ]


def test_pods_of_the_same_priority_stay() -> None:
    equal = running("equal", "n1", card="GPU-0", gpumem=20_000, priority=5)

    found = changes(
        pod(gpu=1, gpumem=9000, priority=5), node("n1", cards=cards(1)), placed=(equal,)
    )

    assert found == []


def test_nobody_goes_where_the_card_is_too_small_even_when_empty() -> None:
    low = running("low", "n1", card="GPU-0", gpumem=20_000)

    found = changes(
        pod(gpu=1, gpumem=99_000, priority=5), node("n1", cards=cards(1)), placed=(low,)
    )

    assert found == []


def test_nodes_that_see_each_other_are_tried_one_by_one() -> None:
    near_one = pod("near-one", labels={"app": "a"}, on="n1")
    far = pod("far", labels={"app": "a"}, on="n2")
    who = pod(priority=5, labels={"app": "a"}, neighbours=away("kubernetes.io/hostname", "a"))
    nodes = [node(name, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")]

    found = changes(who, *nodes, placed=(near_one, far))

    assert [each.node for each in found] == ["n1"]

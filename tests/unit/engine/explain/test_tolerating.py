"""Tolerations that would help, and nodes that have to come back."""

from springtide.base.taints import Taint, Toleration
from springtide.engine.explain import Change, ChangeKind
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import node, pod
from tests.explaining import Cluster

RESERVED = Taint(key="team", value="b")
NEW = Taint(key="new")
NOT_READY = Taint(key="node.kubernetes.io/not-ready", effect="NoExecute")
CORDON = Taint(key="node.kubernetes.io/unschedulable")


def changes(*nodes: Node, who: Pod | None = None) -> list[Change]:
    """Return the changes that would help a small pod."""
    return list(Cluster(nodes).explain(who or pod()).changes)


def test_the_taint_of_the_node_is_tolerated() -> None:
    found = changes(node("n1", taints=[RESERVED]))

    assert [(each.kind, each.text, each.node) for each in found] == [
        (ChangeKind.ADD_TOLERATION, "tolerate the taint team=b:NoSchedule", "n1")
    ]


def test_the_node_with_the_fewest_taints_is_told() -> None:
    found = changes(node("n1", taints=[RESERVED, NEW]), node("n2", taints=[NEW]))

    assert [(each.subject, each.node) for each in found] == [("new:NoSchedule", "n2")]


def test_several_taints_of_one_node_are_tolerated_together() -> None:
    found = changes(node("n1", taints=[RESERVED, NEW]))

    assert [(each.text, each.size) for each in found] == [
        ("tolerate the taint new:NoSchedule and team=b:NoSchedule", 2)
    ]


def test_what_the_pod_tolerates_already_is_not_told() -> None:
    who = pod(tolerations=[Toleration(key="team", operator="Exists")])

    found = changes(node("n1", taints=[RESERVED, NEW]), who=who)

    assert [each.subject for each in found] == ["new:NoSchedule"]


def test_a_taint_that_only_discourages_needs_no_toleration() -> None:
    found = changes(node("n1", taints=[NEW, Taint(key="old", effect="PreferNoSchedule")]))

    assert [each.subject for each in found] == ["new:NoSchedule"]


def test_a_cordon_is_lifted_instead_of_tolerated() -> None:
    found = changes(node("n1", taints=[CORDON], is_unschedulable=True))

    assert [(each.kind, each.text) for each in found] == [
        (ChangeKind.RESTORE_NODE, "uncordon node n1")
    ]


def test_a_node_in_trouble_is_to_be_brought_back() -> None:
    found = changes(node("n1", taints=[NOT_READY]), node("n2", taints=[NEW]))

    assert [each.text for each in found] == [
        "tolerate the taint new:NoSchedule",
        "bring node n1 back, which is tainted node.kubernetes.io/not-ready:NoExecute",
    ]


def test_tolerations_do_not_help_where_more_is_in_the_way() -> None:
    found = changes(node("n1", taints=[NEW], cpu=1), who=pod(cpu=2))

    assert found == []

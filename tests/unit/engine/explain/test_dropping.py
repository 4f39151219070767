"""What the pod says about where it may run, and what it would be without one term of it."""

from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.engine.explain import Change, ChangeKind
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import away, card, near, node, pod, spread, term
from tests.explaining import Cluster


def changes(who: Pod, *nodes: Node, placed: tuple[Pod, ...] = ()) -> list[Change]:
    """Return the changes that would help."""
    return list(Cluster(nodes, placed, asked=[who]).explain(who).changes)


def test_a_label_that_no_node_has_is_dropped_from_the_node_selector() -> None:
    who = pod(selector={"zone": "a", "disk": "fast"})

    found = changes(who, node("n1", labels={"zone": "a"}))

    assert [each.text for each in found] == ["drop disk=fast from the node selector"]
    assert found[0].node == "n1"


def test_two_labels_that_are_both_missing_are_no_single_change() -> None:
    found = changes(pod(selector={"zone": "a", "disk": "fast"}), node())

    assert found == []


def test_one_condition_of_an_affinity_comes_before_the_whole_of_it() -> None:
    conditions = (
        NodeSelectorRequirement(key="zone", operator="In", values=("a", "b")),
        NodeSelectorRequirement(key="disk", operator="Exists", values=()),
    )
    who = pod(terms=(NodeSelectorTerm(expressions=conditions),))

    found = changes(who, node(labels={"zone": "a"}))

    assert [each.text for each in found] == [
        "drop disk Exists from the required node affinity",
        "drop the required node affinity (zone In (a, b) and disk Exists)",
    ]


def test_an_affinity_of_one_condition_is_dropped_as_a_whole() -> None:
    found = changes(pod(terms=(term("zone", "In", "a"), term("zone", "In", "b"))), node())

    assert [each.subject for each in found] == ["zone In (a) or zone In (b)"]


def test_a_field_of_a_term_is_a_condition_like_others() -> None:
    name = NodeSelectorRequirement(key="metadata.name", operator="In", values=("gone",))
    zone = NodeSelectorRequirement(key="zone", operator="Exists", values=())
    who = pod(terms=(NodeSelectorTerm(expressions=(zone,), fields=(name,)),))

    found = changes(who, node(labels={"zone": "a"}))

    assert found[0].subject == "metadata.name In (gone)"


def test_an_affinity_without_terms_says_that_no_node_meets_it() -> None:
    found = changes(pod(terms=()), node())

    assert "it has no term, so no node meets it" in found[0].text


def test_an_annotation_is_dropped_with_the_types_that_would_do_then() -> None:
    who = pod(gpu=1, gpumem=100, annotations={"nvidia.com/use-gputype": "H100"})

    found = changes(who, node(cards=[card(model="NVIDIA-A10")]))

    assert [each.text for each in found] == [
        "drop the annotation nvidia.com/use-gputype: H100, so that it may use NVIDIA-A10"
    ]
    assert found[0].subject == "nvidia.com/use-gputype"


def test_annotations_that_no_family_reads_are_left_alone() -> None:
    who = pod(gpu=1, gpumem=100, annotations={"nvidia.com/nouse-gputype": "A10", "note": "x"})

    found = changes(who, node(cards=[card(model="NVIDIA-A10")]))

    assert [each.subject for each in found] == ["nvidia.com/nouse-gputype"]


def test_a_host_port_that_is_taken_is_dropped() -> None:
    holder = replace(pod("holder", ports=[80]), node_name="n1")

    found = changes(pod(ports=[80, 81]), node("n1"), placed=(holder,))

    assert [each.text for each in found] == ["drop the host port TCP 80"]


def test_terms_about_other_pods_are_dropped_one_by_one() -> None:
    other = pod("other", labels={"app": "a"}, on="n1")
    nodes = node("n1", labels={"zone": "z"})
    apart = pod(neighbours=away("zone", "a"), labels={"app": "a"})
    together = pod(neighbours=near("zone", "b"))
    spreading = pod(neighbours=spread("rack"), labels={"app": "a"})

    found = [changes(each, nodes, placed=(other,))[0].text for each in (apart, together, spreading)]

    assert found == [
        "drop the required pod anti-affinity over zone to pods with app=a",
        "drop the required pod affinity over zone to pods with app=b",
        "drop the topology spread constraint over rack, or let it be ScheduleAnyway",
    ]


def test_a_pod_that_fits_needs_no_change() -> None:
    found = changes(pod(selector={"zone": "a"}), node(labels={"zone": "a"}))

    assert found == []


def test_gates_are_lifted_where_nothing_else_is_in_the_way() -> None:
    who = pod()
    gated = replace(who, spec=replace(who.spec, scheduling_gates=("wait", "quota")))

    found = changes(gated, node("n1"))

    assert [(each.kind, each.text) for each in found] == [
        (ChangeKind.LIFT_GATES, "remove the scheduling gates wait quota")
    ]

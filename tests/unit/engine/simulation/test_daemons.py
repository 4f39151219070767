"""The DaemonSet pods of a new node."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.base.taints import Taint, Toleration
from springtide.engine.simulation.daemons import daemon_sets, expected, runs_on
from springtide.model.pod import Pod
from springtide.model.workload import DaemonSet
from tests.builders import node, pod, term


def daemon(name: str = "agent", of: Pod | None = None) -> DaemonSet:
    return DaemonSet(namespace="default", name=name, uid=name, spec=(of or pod()).spec)


def test_a_daemon_runs_where_its_selector_and_affinity_match() -> None:
    here, there = node(labels={"kind": "gpu"}), node(labels={"kind": "cpu"})
    selecting = daemon(of=pod(selector={"kind": "gpu"}))
    preferring = daemon(of=pod(terms=(term("kind", "In", "gpu"),)))

    assert [runs_on(selecting, each) for each in (here, there)] == [True, False]
    assert [runs_on(preferring, each) for each in (here, there)] == [True, False]


@pytest.mark.parametrize(
    ("tolerations", "expected_answer"),
    [([], False), ([Toleration(operator="Exists")], True), ([Toleration(key="gpu")], True)],
)
def test_a_daemon_runs_where_it_tolerates_every_taint(
    tolerations: Sequence[Toleration], *, expected_answer: bool
) -> None:
    tainted = node(taints=[Taint(key="gpu")])

    assert runs_on(daemon(of=pod(tolerations=tolerations)), tainted) is expected_answer


def test_a_soft_taint_keeps_no_daemon_away() -> None:
    assert runs_on(daemon(), node(taints=[Taint(key="gpu", effect="PreferNoSchedule")]))


def test_each_daemon_that_is_not_there_yet_is_expected() -> None:
    present = [pod("agent-x", daemon_of="agent"), pod("web")]
    elsewhere = daemon("picky", of=pod(selector={"kind": "gpu"}))

    pods = expected([daemon("agent"), daemon("proxy"), elsewhere], node("n"), present)

    assert [each.name for each in pods] == ["proxy-on-n"]


def test_daemon_sets_are_found_by_their_pods_too() -> None:
    known = daemon("agent")
    running = [
        pod("agent-a", daemon_of="agent", cpu="900m"),
        pod("proxy-a", daemon_of="proxy", cpu="100m"),
        pod("proxy-b", daemon_of="proxy", cpu="200m"),
        pod("web"),
        replace(pod("gone", daemon_of="old"), phase="Failed"),
    ]

    found = daemon_sets([known], running)

    assert [each.name for each in found] == ["agent", "proxy"]
    assert found[0] is known
    assert found[1].spec == running[1].spec


def bound_to(name: str, *expressions: NodeSelectorRequirement) -> tuple[NodeSelectorTerm, ...]:
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(name,))
    return (NodeSelectorTerm(expressions=expressions, fields=(field,)),)


def test_a_daemon_set_found_by_a_pod_is_not_bound_to_that_pods_node() -> None:
    running = pod("proxy-a", daemon_of="proxy", terms=bound_to("a"))

    (found,) = daemon_sets([], [running])

    assert found.spec.required_node_terms is None
    assert runs_on(found, node("b"))


def test_what_else_such_a_pod_requires_stays() -> None:
    on_gpu = NodeSelectorRequirement(key="kind", operator="In", values=("gpu",))
    running = pod("proxy-a", daemon_of="proxy", terms=bound_to("a", on_gpu))

    (found,) = daemon_sets([], [running])

    assert runs_on(found, node("b", labels={"kind": "gpu"}))
    assert not runs_on(found, node("b"))

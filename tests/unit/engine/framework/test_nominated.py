"""Nodes are judged twice where other pods are nominated to them: with those pods, and without."""

from springtide.engine.attempt import Outcome
from springtide.model.node import HOSTNAME_LABEL, Node
from tests.builders import away, near, node
from tests.unit.engine.attempt.attempting import attempted, pod, setting


def named(name: str) -> Node:
    return node(name, labels={HOSTNAME_LABEL: name})


def test_a_node_is_kept_for_pods_of_the_same_priority_that_are_nominated_to_it() -> None:
    nominee = pod("first", cpu=6, priority=10, nominated="n0")
    there = setting([named("n0"), named("n1")], waiting=[nominee])

    before, equal, after = (
        attempted(pod(cpu=4, priority=priority), there) for priority in (11, 10, 9)
    )

    assert before.feasible.tolist() == [0, 1]
    assert equal.feasible.tolist() == after.feasible.tolist() == [1]
    assert [(refusal.text, rows.tolist()) for refusal, rows in after.refusals()] == [
        ("Insufficient cpu", [0])
    ]


def test_a_pod_is_not_in_its_own_way() -> None:
    own = pod(cpu=6, nominated="n0")

    made = attempted(own, setting([named("n0")], waiting=[own]))

    assert made.taken == 0


def test_a_node_must_do_without_nominated_pods_too() -> None:
    nominee = pod("first", nominated="n0", labels={"app": "db"})
    wants_it = pod(neighbours=near(HOSTNAME_LABEL, "db"))

    made = attempted(wants_it, setting([named("n0")], waiting=[nominee]))

    assert made.outcome is Outcome.UNSCHEDULABLE
    assert "1 node(s) didn't match pod affinity rules." in made.text


def test_a_nominated_pod_is_only_seen_from_nodes_beside_its_own_once_it_is_there() -> None:
    nominee = pod("first", nominated="n0", labels={"app": "db"})
    nodes = [node(name, labels={"zone": "a"}) for name in ("n0", "n1")]

    made = attempted(pod(neighbours=away("zone", "db")), setting(nodes, waiting=[nominee]))

    assert made.feasible.tolist() == [1]


def test_a_rule_that_has_nothing_to_say_of_the_pod_does_not_hear_of_nominated_ones() -> None:
    # As in kube-scheduler: nobody who is there keeps anybody away, so the rule is left out.
    shy = pod("first", nominated="n0", neighbours=away(HOSTNAME_LABEL, "web"))
    web = pod(labels={"app": "web"})

    made = attempted(web, setting([named("n0")], waiting=[shy]))

    assert made.feasible.tolist() == [0]

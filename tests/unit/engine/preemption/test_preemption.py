"""Preemption by examples: whether, where, whose."""

from collections.abc import Sequence

import numpy as np
import pytest

from springtide.base.selectors import LabelSelector, LabelSelectorRequirement, label_selector
from springtide.base.taints import Taint
from springtide.engine.attempt import Attempt, Code, Setting
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import FrameworkConfig
from springtide.engine.framework.nominated import Judge
from springtide.engine.preemption import Preempted, preempt
from springtide.model.disruption import DisruptionBudget
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.plugin_arguments import DefaultPreemptionArgs
from springtide.model.pod import Pod
from tests.builders import away, node, spread
from tests.unit.engine.attempt.attempting import attempted, pod, setting

NO_HELP = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


def named(name: str, *, cpu: int = 4) -> Node:
    return node(name, cpu=cpu, labels={HOSTNAME_LABEL: name})


def said(made: Attempt) -> str:
    assert made.post_filter is not None
    return made.post_filter.message.removeprefix("preemption: ")


def victims(made: Attempt) -> list[str]:
    assert made.post_filter is not None
    found: Preempted | None = made.post_filter.preempted
    return [each.name for each in found.victims.pods] if found and found.victims else []


def budget(
    app: str | LabelSelector, *, allowed: int = 0, going: Sequence[str] = ()
) -> DisruptionBudget:
    selector = label_selector({"app": app}) if isinstance(app, str) else app
    return DisruptionBudget(
        namespace="team", name="b", selector=selector, allowed=allowed, going=frozenset(going)
    )


# Whether


def test_a_pod_that_must_not_preempt_does_not() -> None:
    there = setting([named("n0")], [pod("low", on="n0", cpu=4)])

    made = attempted(pod(cpu=4, priority=9, may_preempt=False), there)

    assert said(made) == "not eligible due to preemptionPolicy=Never."


def test_a_pod_waits_for_the_node_that_is_being_cleared_for_it() -> None:
    going = pod("going", on="n0", cpu=4, is_preempted=True)

    made = attempted(pod(cpu=4, priority=9, nominated="n0"), setting([named("n0")], [going]))

    assert said(made) == "not eligible due to a terminating pod on the nominated node."


def test_a_pod_does_not_wait_for_a_node_that_would_not_do_any_more() -> None:
    tainted = node("n0", cpu=4, taints=[Taint(key="gpu")])
    running = [
        pod("going", on="n0", cpu=4, is_preempted=True),
        pod("low", on="n1", cpu=4),
    ]

    made = attempted(
        pod(cpu=4, priority=9, nominated="n0"), setting([tainted, named("n1")], running)
    )

    assert victims(made) == ["low"]


def test_nodes_are_told_apart_by_why_evictions_do_not_help() -> None:
    nodes = [
        named("small", cpu=2),
        node("tainted", taints=[Taint(key="gpu")]),
        named("equals"),
        named("mixed"),
    ]
    running = [
        pod("equal", on="equals", cpu=2, priority=9),
        pod("higher", on="mixed", cpu=2, priority=10),
        pod("lower", on="mixed", cpu=1, priority=1),
    ]

    made = attempted(pod(cpu=4, priority=9), setting(nodes, running))

    assert said(made) == (
        f"0/4 nodes are available: 1 Insufficient cpu, 1 {NO_VICTIMS}, 2 {NO_HELP}."
    )


# Whose


def test_those_come_back_for_whom_there_is_room_the_important_ones_first() -> None:
    running = [
        pod("young", on="n0", started="2026-01-02T00:00:00Z"),
        pod("old", on="n0", started="2026-01-01T00:00:00Z"),
        pod("new", on="n0"),
        pod("important", on="n0", priority=5),
    ]

    made = attempted(pod(cpu=2, priority=9), setting([named("n0")], running))

    assert victims(made) == ["young", "new"]


@pytest.mark.parametrize(
    ("protecting", "expected"),
    [
        ([], ["low"]),
        ([budget("db")], ["mid"]),
        ([budget("db", allowed=1)], ["low"]),
        ([budget("db", going=["low"])], ["low"]),
        ([budget(label_selector({}))], ["low"]),
        (
            [
                budget(
                    LabelSelector(
                        match_expressions=(LabelSelectorRequirement(key="app", operator="Odd"),)
                    )
                )
            ],
            ["low"],
        ),
    ],
    ids=["none", "broken", "allowed", "going already", "empty selector", "malformed selector"],
)
def test_pods_that_a_budget_protects_come_back_first(
    protecting: list[DisruptionBudget], expected: list[str]
) -> None:
    running = [
        pod("low", on="n0", cpu=2, priority=1, labels={"app": "db"}),
        pod("mid", on="n0", cpu=2, priority=2, labels={"app": "web"}),
    ]

    made = attempted(pod(cpu=2, priority=9), setting([named("n0")], running, budgets=protecting))

    assert victims(made) == expected


def test_rules_between_pods_are_asked_again_without_the_victims() -> None:
    running = [pod("db", on="n0", labels={"app": "db"}), pod("other", on="n0")]
    wants_none = pod(priority=9, neighbours=away(HOSTNAME_LABEL, "db"))

    made = attempted(wants_none, setting([named("n0")], running))

    assert victims(made) == ["db"]


def test_a_spread_counts_without_the_victims() -> None:
    running = [pod(f"a{index}", on="n0", labels={"app": "a"}) for index in range(2)]
    nodes = [named("n0"), node("n1", labels={HOSTNAME_LABEL: "n1"}, taints=[Taint(key="gpu")])]
    even = pod(priority=9, labels={"app": "a"}, neighbours=spread(HOSTNAME_LABEL))

    made = attempted(even, setting(nodes, running))

    assert victims(made) == ["a0", "a1"]


def test_a_node_that_fits_for_the_rules_has_nobody_to_lose() -> None:
    # The extender has refused it; whoever asks hands in such rows.
    there = setting([named("n0"), named("n1")], [pod(f"r{n}", on=f"n{n}") for n in range(2)])

    messages = [_asked_about(there, rows) for rows in ([0], [0, 1])]

    assert messages == [
        'preemption: expected at least one victim pod on node "n0"',
        (
            'preemption: [expected at least one victim pod on node "n0", '
            'expected at least one victim pod on node "n1"]'
        ),
    ]


def _asked_about(there: Setting, rows: list[int]) -> str:
    asking = pod(priority=9)
    judge = Judge(there.framework, ask_of(asking), overlay=there.overlay, promised={})
    promising = np.array(rows, np.intp)
    answer = preempt(asking, judge, promising=promising, evictable=there.evictable)
    assert answer.is_error
    return answer.message


# Where


def losing(**lost: list[Pod]) -> Attempt:
    """Return the attempt of a pod that needs all of any of these nodes."""
    nodes = [named(name, cpu=4) for name in lost]
    return attempted(
        pod(cpu=4, priority=100), setting(nodes, [p for pods in lost.values() for p in pods])
    )


def on(place: str, *priorities: int, started: str = "2026-01-01T00:00:00Z") -> list[Pod]:
    return [
        pod(f"{place}-{index}", on=place, priority=priority, started=started)
        for index, priority in enumerate(priorities)
    ]


@pytest.mark.parametrize(
    ("n0", "n1", "chosen"),
    [
        (on("n0", 5), on("n1", 3, 3), "n1"),
        (on("n0", 5, 5, 1), on("n1", 5, 1), "n1"),
        (on("n0", -(2**31), 5), on("n1", 5), "n1"),
        (on("n0", 5), on("n1", 5, started="2026-01-01T00:00:01Z"), "n1"),
        (on("n0", 5), on("n1", 5), "n0"),
        (on("n0", 5), on("n1", 5, started=""), "n1"),
    ],
    ids=["top priority", "sum", "count", "started later", "first", "not started"],
)
def test_the_node_is_chosen_where_it_hurts_least(n0: list[Pod], n1: list[Pod], chosen: str) -> None:
    made = losing(n0=n0, n1=n1)

    count = len({"n0": n0, "n1": n1}[chosen])
    assert said(made) == (
        f"found a potential placement for pod on node {chosen}, preempting {count} victims"
    )


def test_a_broken_budget_hurts_most() -> None:
    running = [
        pod("low", on="n0", cpu=4, priority=1, labels={"app": "db"}),
        pod("high", on="n1", cpu=4, priority=50, labels={"app": "web"}),
    ]
    there = setting([named("n0"), named("n1")], running, budgets=[budget("db")])

    made = attempted(pod(cpu=4, priority=100), there)

    assert victims(made) == ["high"]


# How many nodes


def test_no_more_nodes_are_tried_than_the_configuration_asks_for() -> None:
    priorities = (7, 5, 6, 3)
    nodes = [named(f"n{index}") for index in range(4)]
    running = [
        pod(f"p{index}", on=f"n{index}", cpu=4, priority=priority)
        for index, priority in enumerate(priorities)
    ]
    few = FrameworkConfig(preemption=DefaultPreemptionArgs(50, 1))
    there = setting(nodes, running, config=few)

    chosen = [
        victims(attempted(pod(cpu=4, priority=100), there, offset=offset)) for offset in range(4)
    ]

    assert chosen == [["p1"], ["p1"], ["p3"], ["p3"]]


def test_the_search_goes_on_while_every_candidate_breaks_a_budget() -> None:
    running = [
        pod("p0", on="n0", cpu=4, labels={"app": "db"}),
        pod("p1", on="n1", cpu=4, labels={"app": "db"}),
        pod("p2", on="n2", cpu=4, labels={"app": "web"}),
    ]
    one = FrameworkConfig(preemption=DefaultPreemptionArgs(0, 1))
    there = setting(
        [named(f"n{index}") for index in range(3)], running, budgets=[budget("db")], config=one
    )

    made = attempted(pod(cpu=4, priority=100), there)

    assert victims(made) == ["p2"]


def test_a_profile_without_the_plugin_evicts_nobody() -> None:
    there = setting(
        [named("n0")], [pod("low", on="n0", cpu=4)], config=FrameworkConfig(post_filters=())
    )

    made = attempted(pod(cpu=4, priority=9), there)

    assert made.post_filter is not None
    assert (made.post_filter.code, made.post_filter.message) == (Code.UNSCHEDULABLE, "")
    assert made.text == "0/1 nodes are available: 1 Insufficient cpu."

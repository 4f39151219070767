"""The report for people, section by section."""

import click
import pytest

from springtide.apps.planner.report import (
    ApartPod,
    FittingPod,
    GangReport,
    GroupReport,
    GroupVerdict,
    InputReport,
    NodeReport,
    NotEvaluated,
    PlanReport,
    ProblemReport,
    StuckReport,
)
from springtide.cli.plan_table import ROWS_MAX, Style, Times, problem_text, render

TIMES = Times(reading_s=0.084, planning_s=0.021)


def report(
    *,
    pending: int = 1,
    fitting: tuple[FittingPod, ...] = (),
    groups: tuple[GroupReport, ...] = (),
    gangs: tuple[GangReport, ...] = (),
    stuck: tuple[StuckReport, ...] = (),
    apart: tuple[ApartPod, ...] = (),
    not_evaluated: tuple[NotEvaluated, ...] = (),
    problems: tuple[ProblemReport, ...] = (),
    nodes: int = 2,
    notes: tuple[str, ...] = (),
) -> PlanReport:
    """Return a report."""
    return PlanReport(
        summary="1 pod is pending.",
        is_satisfied=not stuck,
        pending=pending,
        fitting=fitting,
        groups=groups,
        gangs=gangs,
        stuck=stuck,
        apart=apart,
        not_evaluated=not_evaluated,
        problems=problems,
        input=InputReport(objects=3, kinds={"Pod": 3}, nodes=nodes, pods=3, skipped=0, notes=notes),
    )


def group(
    name: str, *, before: int = 0, nodes: tuple[NodeReport, ...] = (), why: str = ""
) -> GroupReport:
    """Return a group that grows by these nodes."""
    return GroupReport(
        name=name,
        size_before=before,
        size_after=before + len(nodes),
        min_size=0,
        max_size=9,
        why=why,
        nodes=nodes,
    )


def node(name: str, *pods: str) -> NodeReport:
    """Return a new node with these pods."""
    return NodeReport(name=name, pods=pods)


def stuck(*pods: str, closest: GroupVerdict | None = None) -> StuckReport:
    """Return pods that fit nowhere."""
    verdicts = (closest,) if closest is not None else ()
    message = "0/2 nodes are available: 2 8/8 CardInsufficientMemory."
    return StuckReport(pods=pods, message=message, closest=closest, groups=verdicts)


def lines(answer: PlanReport, style: Style | None = None) -> list[str]:
    """Return the lines of the text without colour."""
    return click.unstyle(render(answer, TIMES, style or Style())).splitlines()


def test_the_answer_comes_first_and_the_timing_last() -> None:
    text = lines(report(groups=(group("a"),)))

    assert text[0] == "1 pod is pending."
    assert text[-1] == "Read 3 objects in 0.08 s. Planned in 0.02 s."


def test_a_group_that_grows_shows_its_sizes_and_pods() -> None:
    growing = group("a", before=2, nodes=(node("a-new-3", "t/x-0", "t/x-1"),), why="least waste")

    text = lines(report(groups=(growing,)))

    assert text[2:4] == [
        "GROUP  NODES  PODS         WHY",
        "a      2 → 3  t/x-0 t/x-1  least waste",
    ]


def test_nodes_that_run_alike_are_told_together() -> None:
    alike = tuple(node(f"a-new-{n}", f"t/x-{2 * n}", f"t/x-{2 * n + 1}") for n in range(1, 4))
    last = node("a-new-4", "t/x-8")

    text = lines(report(groups=(group("a", nodes=(*alike, last)),)))

    start = text.index("NEW NODES    PODS ON EACH")
    assert text[start + 1 : start + 3] == ["a-new-[1-3]  2 of t/x", "a-new-4      t/x-8"]


def test_wide_names_every_node_and_pod() -> None:
    pods = [f"t/x-{number}" for number in range(40)]
    growing = group("a", nodes=(node("a-new-1", *pods[:20]), node("a-new-2", *pods[20:])))

    text = " ".join(lines(report(groups=(growing,)), Style(is_wide=True)))

    assert all(f" {pod} " in text for pod in pods)
    assert "a-new-1" in text
    assert "a-new-2" in text


def test_a_group_that_does_not_grow_says_why_not() -> None:
    text = lines(report(groups=(group("t4", why="8/8 CardInsufficientMemory"),)))

    assert text[2:4] == ["NOT CHOSEN  WHY NOT", "t4          8/8 CardInsufficientMemory"]


def test_stuck_pods_name_the_closest_group_and_the_nodes_there_are() -> None:
    closest = GroupVerdict(group="a", reason="8/8 CardInsufficientMemory", detail="90000 MiB asked")

    text = lines(report(groups=(group("a"),), stuck=(stuck("t/big-0", closest=closest),)))

    at = text.index(
        "t/big-0 fits nowhere. Closest is a: 8/8 CardInsufficientMemory, 90000 MiB asked."
    )
    assert text[at + 1] == (
        "  The nodes that are there: 0/2 nodes are available: 2 8/8 CardInsufficientMemory."
    )


def test_without_nodes_nothing_is_said_about_them() -> None:
    text = lines(report(groups=(group("a"),), stuck=(stuck("t/big-0"),), nodes=0))

    assert not any("nodes are available" in line for line in text)


def test_many_kinds_of_stuck_pods_are_counted_beyond_the_first() -> None:
    kinds = tuple(stuck(f"t/kind{number}") for number in range(ROWS_MAX + 2))

    text = lines(report(stuck=kinds))

    assert "2 more pods in 2 further kinds fit nowhere; -o wide lists them." in text
    assert len(lines(report(stuck=kinds), Style(is_wide=True))) > len(text)


def test_long_tables_end_in_a_count() -> None:
    fitting = tuple(FittingPod(pod=f"t/x-{n}", node=f"node-{n}") for n in range(ROWS_MAX + 5))

    text = lines(report(fitting=fitting))

    assert "... and 5 more; -o wide lists them." in text


def test_pods_that_wait_for_something_else_are_told_apart() -> None:
    apart = (ApartPod(pod="t/gated", reason="waits for scheduling gates: quota"),)

    text = lines(report(apart=apart))

    assert text[2:4] == [
        "LEFT OUT  BECAUSE IT",
        "t/gated   waits for scheduling gates: quota",
    ]


def test_fields_that_no_rule_reads_are_told_with_their_rule() -> None:
    required = NotEvaluated(
        field="topologySpreadConstraints", rule="PodTopologySpread", is_required=True, pods=3
    )
    preferred = NotEvaluated(
        field="affinity.preferred", rule="InterPodAffinity", is_required=False, pods=1
    )
    answer = report(groups=(group("a"),), not_evaluated=(required, preferred))

    short, wide = lines(answer), lines(answer, Style(is_wide=True))

    sentence = (
        "Not looked at: topologySpreadConstraints of 3 pods. This version does not apply "
        "PodTopologySpread; the scheduler may refuse a node that is counted on here."
    )
    assert sentence in short
    assert not any("InterPodAffinity" in line for line in short)
    assert any("InterPodAffinity" in line for line in wide)


def test_claims_that_are_not_looked_at_are_missing_in_the_input() -> None:
    claims = NotEvaluated(
        field="volumes.persistentVolumeClaim", rule="VolumeBinding", is_required=True, pods=1
    )

    text = lines(report(not_evaluated=(claims,)))

    assert (
        "Not looked at: volumes.persistentVolumeClaim of 1 pod. The input lacks claims that "
        "VolumeBinding needs; the scheduler may refuse a node that is counted on here."
    ) in text


def test_one_problem_is_named_and_many_are_counted() -> None:
    problem = ProblemReport(source="a.json", object="Node n", field="spec", message="Mend it.")

    one = lines(report(problems=(problem,)))[-1]
    two = lines(report(problems=(problem, problem)))[-1]
    told = lines(report(problems=(problem, problem)), Style(has_warnings=True))[-1]

    assert "(1 problem: Node n; --warnings says more)" in one
    assert "(2 problems; --warnings says more)" in two
    assert "(2 problems)" in told


@pytest.mark.parametrize(
    ("source", "field", "text"),
    [
        ("a.json", "spec", "a.json: Node n, spec: Mend it."),
        ("", "spec", "Node n, spec: Mend it."),
        ("a.json", "", "a.json: Node n: Mend it."),
    ],
)
def test_a_problem_is_one_line(source: str, field: str, text: str) -> None:
    problem = ProblemReport(source=source, object="Node n", field=field, message="Mend it.")

    assert problem_text(problem) == text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_no_line_is_wider_than_it(width: int) -> None:
    pods = tuple(f"team-with-a-name/training-run-{number}" for number in range(3))
    growing = group("a100-80g", nodes=(node("a100-80g-new-1", *pods),), why="least waste " * 9)
    other = group("h100", why="would help, but is dearer " * 6)
    closest = GroupVerdict(group="h100", reason="4/4 CardInsufficientMemory", detail="asked " * 20)
    answer = report(groups=(growing, other), stuck=(stuck("t/big-0", closest=closest),))

    text = lines(answer, Style(width=width))

    assert max(map(len, text)) <= width


def gang(name: str, *, running: int, minimum: int, why: str) -> GangReport:
    """Return what is said of a gang."""
    return GangReport(
        gang=name,
        api="springtide.io",
        minimum=minimum,
        running=running,
        standing=0,
        is_met=running >= minimum,
        short_by=max(0, minimum - running),
        why=why,
        pods=(),
    )


def test_gangs_that_are_short_come_first() -> None:
    answer = report(
        gangs=(
            gang("team/met", running=3, minimum=2, why="has enough places"),
            gang("team/short", running=6, minimum=8, why="short by 2"),
        )
    )

    assert section(lines(answer), "GANG") == [
        "GANG        WOULD RUN  AT LEAST  WHY",
        "team/short  6          8         short by 2",
        "team/met    3          2         has enough places",
    ]


def section(text: list[str], heading: str) -> list[str]:
    """Return the lines from a heading to the next empty one."""
    start = next(index for index, line in enumerate(text) if line.startswith(heading))
    return text[start : text.index("", start)]

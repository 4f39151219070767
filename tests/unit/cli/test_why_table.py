"""The answer about pods for people, section by section."""

from collections.abc import Sequence

import click

from springtide.apps.planner.report import GroupVerdict, InputReport
from springtide.apps.why.report import (
    ChangeReport,
    DeviceReport,
    NodeDevices,
    NodesVerdict,
    PodWhy,
    State,
    WhyReport,
)
from springtide.cli.plan_table import ROWS_MAX, Style, Times
from springtide.cli.why_table import render
from springtide.engine.explain import ChangeKind

TIMES = Times(reading_s=0.084, planning_s=0.021)
REFUSING = NodesVerdict(
    nodes=("n-1", "n-2"), fits=False, rule="NVIDIA", reason="2/2 Bad", sentence="both are bad"
)
FITTING = NodesVerdict(nodes=("n-3",), fits=True)


def answer(
    *pods: str,
    text: str = "It fits on none of the 2 nodes.",
    fits: bool = False,
    verdicts: Sequence[NodesVerdict] = (REFUSING,),
    changes: Sequence[ChangeReport] = (),
    groups: Sequence[GroupVerdict] = (),
    message: str = "",
    last_message: str = "",
    remedy: str = "",
) -> PodWhy:
    """Return the answer about some pods."""
    return PodWhy(
        pods=pods or ("t/p",),
        state=State.RUNNING if fits and not verdicts else State.WAITING,
        fits=fits,
        answer=text,
        chain=text,
        verdicts=tuple(verdicts),
        changes=tuple(changes),
        groups=tuple(groups),
        message=message,
        last_message=last_message,
        remedy=remedy,
    )


def change(
    text: str, *, kind: ChangeKind = ChangeKind.ASK_LESS, subject: str = "x"
) -> ChangeReport:
    """Return a change."""
    return ChangeReport(kind=kind, text=text, subject=subject, node="n-1")


def lines(*answers: PodWhy, style: Style | None = None) -> list[str]:
    """Return the lines of the text without colour."""
    report = WhyReport(
        fits=False,
        pods=answers,
        not_evaluated=(),
        problems=(),
        input=InputReport(objects=3, kinds={"Pod": 3}, nodes=2, pods=3, skipped=0),
    )
    return click.unstyle(render(report, TIMES, style or Style())).splitlines()


def test_the_answer_comes_first_and_the_timing_last() -> None:
    text = lines(answer())

    assert text[0] == "t/p fits on none of the 2 nodes."
    assert text[-1] == "Read 3 objects in 0.08 s. Explained in 0.02 s."


def test_pods_with_one_answer_are_told_together() -> None:
    text = lines(answer("t/p-0", "t/p-1", "t/p-2"))

    assert text[0] == "t/p-[0-2]: each fits on none of the 2 nodes."


def test_nodes_that_say_the_same_stand_in_one_row() -> None:
    text = lines(answer(verdicts=(FITTING, REFUSING)))

    assert text[2:5] == [
        "NODES             REASON   WHY",
        "n-3               fits",
        "2 nodes: n-1 n-2  2/2 Bad  both are bad",
    ]


def test_where_all_nodes_say_the_same_they_are_not_named() -> None:
    assert lines(answer())[3].startswith("all 2 nodes  ")


def test_wide_names_every_node() -> None:
    assert lines(answer(), style=Style(is_wide=True))[3].startswith("n-1 n-2  ")


def test_a_pod_that_fits_everywhere_needs_no_table() -> None:
    text = lines(answer(text="It fits on 1 of 1 nodes: n-3.", fits=True, verdicts=(FITTING,)))

    assert text[:2] == ["t/p fits on 1 of 1 nodes: n-3.", ""]
    assert not any(line.startswith("NODES") for line in text)


def test_devices_stand_below_their_node_with_what_is_free() -> None:
    device = DeviceReport(
        family="NVIDIA",
        id="GPU-0",
        type="T4",
        reason="",
        memory_free=10,
        memory=20,
        cores_free=30,
        cores=100,
        slots_free=1,
        slots=4,
    )
    refused = DeviceReport(
        family="NVIDIA",
        id="GPU-1",
        type="T4",
        reason="Bad",
        memory_free=0,
        memory=20,
        cores_free=0,
        cores=100,
        slots_free=0,
        slots=4,
    )
    devices = (NodeDevices(node="n-3", devices=(device, refused)),)
    verdict = NodesVerdict(nodes=("n-3",), fits=True, devices=devices)

    text = lines(answer(verdicts=(verdict,), fits=True))

    assert text[2:5] == [
        "NODE  DEVICE  TYPE  FREE MIB  CORES   SLOTS  REASON",
        "n-3   GPU-0   T4    10/20     30/100  1/4    fits",
        "      GPU-1   T4    0/20      0/100   0/4    Bad",
    ]


def test_where_every_node_was_asked_for_none_is_left_out() -> None:
    device = DeviceReport(
        family="F", id="d", type="", reason="", memory_free=0, memory=0, cores_free=0, cores=0,
        slots_free=0, slots=0,
    )  # fmt: skip
    verdicts = [
        NodesVerdict(
            nodes=(f"n-{index}",),
            fits=True,
            devices=(NodeDevices(node=f"n-{index}", devices=(device,)),),
        )
        for index in range(ROWS_MAX + 5)
    ]

    text = lines(answer(verdicts=verdicts, fits=True))

    assert sum(line.startswith(f"n-{ROWS_MAX + 4}") for line in text) == 2


def test_the_smallest_change_comes_first() -> None:
    text = lines(answer(changes=(change("ask x: 1 instead of 2"), change("tolerate y"))))

    assert text[5:8] == [
        "CHANGE    WHAT WOULD HELP        WHERE IT FITS THEN",
        "smallest  ask x: 1 instead of 2  n-1",
        "or        tolerate y             n-1",
    ]


def test_many_groups_that_help_are_told_in_one_line() -> None:
    growing = [
        change(
            f"add 1 more node to group g-{index}", kind=ChangeKind.ADD_NODE, subject=f"g-{index}"
        )
        for index in range(6)
    ]

    text = lines(answer(changes=[change("ask less"), *growing]))

    assert [line.split("  ")[0] for line in text[6:9]] == ["smallest", "or", "or"]
    assert "add one to g-[1-5]" in text[8]


def test_where_nothing_helps_that_is_said() -> None:
    assert "None of the changes that were tried helps alone." in lines(answer())


def test_a_remedy_stands_for_changes() -> None:
    text = lines(answer(remedy="Mend the configuration."))

    assert "Mend the configuration." in text
    assert "None of the changes that were tried helps alone." not in text


def test_groups_that_do_not_help_say_why() -> None:
    groups = (
        GroupVerdict(group="g", reason="Bad", detail="worse"),
        GroupVerdict(group="h", reason="No"),
        GroupVerdict(group="i", reason="No"),
    )

    short, wide = (
        lines(answer(groups=groups), style=Style(is_wide=each)) for each in (False, True)
    )

    assert "g      Bad: worse" in short
    assert "h i    No" in short
    assert "i      No" in wide


def test_the_words_of_the_scheduler_follow() -> None:
    text = lines(answer(message="0/2 nodes are available.", last_message="older"))

    assert "  The scheduler says: 0/2 nodes are available." in text
    assert not any("older" in line for line in text)


def test_what_the_clusters_scheduler_said_is_told_where_nothing_is_in_the_way() -> None:
    text = lines(answer(fits=True, verdicts=(FITTING,), last_message="0/2 nodes are available."))

    assert "  The cluster's scheduler said last: 0/2 nodes are available." in text


def test_pods_that_need_no_node_stand_in_a_table_at_the_end() -> None:
    runs = answer("t/r", text="It is on node n-1.", fits=True, verdicts=())

    alone, beside = lines(runs), lines(runs, answer())

    assert alone[0] == "t/r is on node n-1."
    assert beside[0] == "t/p fits on none of the 2 nodes."
    assert "t/r  is on node n-1" in beside


def test_more_answers_than_fit_are_counted() -> None:
    many = [answer(f"t/{index}x") for index in range(ROWS_MAX + 2)]

    short, wide = lines(*many), lines(*many, style=Style(is_wide=True))

    assert "2 more pods; -o wide tells all of them." in short
    assert sum("fits on none" in line for line in wide) == ROWS_MAX + 2

"""The stories of the examples: what each must come to, whatever the rest of the answer says."""

from pathlib import Path

import msgspec
import pytest

from springtide.apps.planner import PlanReport
from springtide.cli.main import run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

Captured = pytest.CaptureFixture[str]


def answer(capsys: Captured, *arguments: str) -> PlanReport:
    """Runs the plan of an example and returns its report."""
    folder, *options = arguments
    run(["plan", str(EXAMPLES / folder), "-o", "json", *options])
    return msgspec.json.decode(capsys.readouterr().out, type=PlanReport)


def growth(report: PlanReport) -> dict[str, tuple[int, int]]:
    """Returns the groups that grow, with their sizes before and after."""
    return {
        group.name: (group.size_before, group.size_after)
        for group in report.groups
        if group.size_after != group.size_before
    }


def reasons(report: PlanReport, name: str) -> list[str]:
    """Returns the reasons for which a group refuses pods."""
    return [
        reason.reason
        for group in report.groups
        if group.name == name
        for reason in group.objections
    ]


def test_a_pod_that_fits_the_template_makes_the_node_pool_grow(capsys: Captured) -> None:
    report = answer(capsys, "aks-template/fits")

    assert growth(report) == {"gpupool": (1, 2)}
    assert reasons(report, "gpupool") == []


@pytest.mark.parametrize(
    ("case", "reason"),
    [("too-large", "2/2 CardInsufficientMemory"), ("unregistered", "node unregistered")],
)
def test_a_template_refuses_in_the_words_of_the_device_scheduler(
    case: str, reason: str, capsys: Captured
) -> None:
    report = answer(capsys, f"aks-template/{case}")

    assert growth(report) == {}
    assert reasons(report, "gpupool") == [reason]
    assert not report.is_satisfied


def test_a_resource_of_the_extender_does_not_exclude_the_group(capsys: Captured) -> None:
    report = answer(capsys, "managed-resource")

    assert growth(report) == {"a10": (1, 2)}
    assert report.is_satisfied


@pytest.mark.parametrize("expander", ["least-waste", "price", "most-pods", "least-nodes"])
def test_memory_in_total_does_not_stand_for_memory_on_a_card(
    expander: str, capsys: Captured
) -> None:
    report = answer(capsys, "card-memory", "--expander", expander)

    assert growth(report) == {"l40s": (1, 2)}
    assert reasons(report, "t4") == ["8/8 CardInsufficientMemory"]


def test_a_group_without_nodes_needs_a_profile(capsys: Captured) -> None:
    report = answer(capsys, "cold-zero")

    assert growth(report) == {"h100": (0, 2)}
    assert reasons(report, "l4") == ["node unregistered"]


def test_a_warm_group_helps_three_of_four(capsys: Captured) -> None:
    report = answer(capsys, "warm-group")

    assert growth(report) == {"a100-80g": (2, 3)}
    assert [item.pods for item in report.stuck] == [("team-b/big-0",)]
    closest = report.stuck[0].closest
    assert closest is not None
    assert (closest.group, closest.reason) == ("a100-80g", "8/8 CardInsufficientMemory")


def test_each_profile_sends_its_pods_to_its_own_group(capsys: Captured) -> None:
    report = answer(capsys, "scheduler-profiles")

    assert growth(report) == {"general": (1, 2), "batch": (0, 1)}
    assert reasons(report, "general") == ["node(s) didn't match scheduler-enforced node affinity"]
    assert report.is_satisfied

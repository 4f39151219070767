"""What `springtide why` prints for every example, byte for byte, on terminals of two widths."""

from io import BytesIO

import click
import pytest

from springtide.apps.why import Request, run
from springtide.apps.why.asked import Names
from springtide.cli import main, why_table
from springtide.cli.plan_table import Style, Times
from springtide.edge.files import read
from springtide.wire.documents import decode
from tests.golden.expected import ROOT, assert_golden, without_timings
from tests.golden.test_plan_output import FOLDERS
from tests.world import FixedClock

GOLDEN = ROOT / "tests" / "golden" / "why"
WARM = FOLDERS["warm-group"]
TIMES = Times(reading_s=0, planning_s=0)


def table(
    example: str, *, width: int, pods: tuple[str, ...] = (), has_all_nodes: bool = False
) -> str:
    """Return the answer about an example as a terminal of a width shows it, but for colours."""
    found = decode(read((str(FOLDERS[example]),), BytesIO()))
    request = Request(names=Names(pods=pods), tells_all_nodes=has_all_nodes)
    report = run(found, request, clock=FixedClock())
    return click.unstyle(why_table.render(report, TIMES, Style(width=width))) + "\n"


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("example", FOLDERS)
def test_every_example_is_explained_in_its_recorded_words(example: str, width: int) -> None:
    printed = table(example, width=width)

    assert_golden(GOLDEN / f"{example}.{width}.txt", printed)


@pytest.mark.parametrize("width", [80, 160])
def test_every_node_and_device_is_told_in_its_recorded_words(width: int) -> None:
    printed = table("warm-group", width=width, pods=("team-b/big-0",), has_all_nodes=True)

    assert_golden(GOLDEN / f"all-nodes.{width}.txt", printed)


@pytest.mark.parametrize("output", ["wide", "json", "yaml", "name"])
def test_the_other_formats_print_their_recorded_answer(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main.run(["why", "-f", str(WARM), "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"warm-group.{output}", without_timings(printed.out))


def test_every_device_is_in_the_recorded_json(capsys: pytest.CaptureFixture[str]) -> None:
    main.run(["why", "team-a/train-0", "-f", str(WARM), "--all-nodes", "-o", "json"])

    assert_golden(GOLDEN / "all-nodes.json", without_timings(capsys.readouterr().out))

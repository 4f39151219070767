"""`springtide headroom` as people and programs use it: formats, charts, endings."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest

from springtide.apps.headroom.report import (
    AskReport,
    DevicesReport,
    HeadroomReport,
    LimitReport,
    PoolReport,
    PoolRoom,
)
from springtide.apps.planner.report import InputReport, ProblemReport
from springtide.cli import headroom_chart, headroom_svg
from springtide.cli.headroom_table import ROWS_MAX, Style, Times, render
from springtide.cli.main import run

EXAMPLE = str(Path(__file__).resolve().parents[3] / "examples" / "warm-group")
TIMES = Times(reading_s=0.084, answering_s=0.021)

Captured = pytest.CaptureFixture[str]


def devices(*, used: int = 500, free: tuple[int, ...] = (0, 0, 1, 0, 0, 1)) -> DevicesReport:
    """Return two cards of 1,000 MiB."""
    return DevicesReport(
        family="NVIDIA",
        type="NVIDIA-A<10",
        devices=2,
        unused=1,
        unhealthy=0,
        memory_mib=2000,
        memory_used_mib=used,
        cores=200,
        cores_used=10,
        slots=20,
        slots_used=1,
        free_memory=free,
    )


def report(*asks: AskReport, pools: tuple[PoolReport, ...] | None = None) -> HeadroomReport:
    """Return a report of one pool with two cards."""
    own = (PoolReport(name="a&b", nodes=1, devices=(devices(),)),)
    return HeadroomReport(
        summary="1 of 2 devices is unused.",
        pools_by="group",
        asks=asks,
        pools=own if pools is None else pools,
        input=InputReport(objects=3, kinds={"Node": 1}, nodes=1, pods=2, skipped=0),
    )


def ask(name: str = "t/web", **fields: object) -> AskReport:
    """Return an ask of pods."""
    given = {"source": "Pods", "text": "cpu=1", "requests": {"cpu": "1"}, "workloads": (name,)}
    return AskReport(name=name, **{**given, **fields})  # type: ignore[arg-type]  # any fields


def lines(answer: HeadroomReport, style: Style | None = None) -> list[str]:
    """Return the lines of the text without colour."""
    return click.unstyle(render(answer, TIMES, style or Style())).splitlines()


# Text


def test_the_answer_comes_first_and_the_timing_last() -> None:
    text = lines(report(ask()))

    assert text[0] == "1 of 2 devices is unused."
    assert text[-1] == "Read 3 objects in 0.08 s. Answered in 0.02 s."


def test_nodes_that_could_never_take_a_pod_end_nothing() -> None:
    limits = (
        LimitReport(reason="Insufficient cpu", nodes=2),
        LimitReport(reason="node unregistered", nodes=9, is_lasting=True),
    )

    short = "\n".join(lines(report(ask(limits=limits))))
    wide = "\n".join(lines(report(ask(limits=limits)), Style(is_wide=True)))

    assert "Insufficient cpu on 2 nodes" in short
    assert "unregistered" not in short
    assert "Insufficient cpu on 2 nodes; never: node unregistered on 9 nodes" in wide


def test_where_nothing_fits_anywhere_the_lasting_reasons_are_told() -> None:
    limits = (LimitReport(reason="node unregistered", nodes=1, is_lasting=True),)

    assert "node unregistered on 1 node" in "\n".join(lines(report(ask(limits=limits))))


def test_pools_are_named_by_room_and_many_are_counted() -> None:
    pools = tuple(PoolReport(name=name, nodes=1) for name in "abcde")
    rooms = tuple(
        PoolRoom(pool=pool.name, more=more, nodes=1, on_one_node=1)
        for more, pool in enumerate(pools)
    )

    short = "\n".join(lines(report(ask(pools=rooms), pools=pools)))
    wide = "\n".join(lines(report(ask(pools=rooms), pools=pools), Style(is_wide=True)))

    assert "e 4, d 3, c 2, and 1 more" in short
    assert "e 4, d 3, c 2, b 1" in wide


def test_a_search_that_was_cut_short_says_so() -> None:
    assert "1000 or more" in "\n".join(lines(report(ask(more=1000, is_at_least=True))))


def test_long_tables_end_in_a_count() -> None:
    asks = [ask(f"t/{number}") for number in range(ROWS_MAX + 5)]

    assert "... and 5 more; -o wide lists them." in lines(report(*asks))


def test_the_ladder_is_a_row_a_device_type() -> None:
    steps = [
        ask(portion, source="Ladder", device=device, portion=portion, more=more)
        for device, portion, more in (("A10", "1/2", 8), ("A10", "1", 4), ("H100", "1", 2))
    ]

    text = lines(report(*steps))

    start = text.index("MORE PODS WITH  1/2 OF ONE  1 WHOLE")
    assert text[start + 1 : start + 3] == ["A10             8           4", "H100" + " " * 24 + "2"]


def test_problems_are_counted() -> None:
    problem = ProblemReport(source="a.json", object="Node n", field="spec", message="Mend it.")
    answer = HeadroomReport(
        summary="",
        pools_by="group",
        asks=(),
        pools=(),
        problems=(problem,),
        input=InputReport(objects=1, kinds={}, nodes=0, pods=0, skipped=1),
    )

    assert "(1 problem: Node n; --warnings says more)" in lines(answer)[-1]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    limits = tuple(LimitReport(reason=f"Reason{n}", nodes=n) for n in range(9))
    answer = report(ask("team-with-a-name/training", text="gpu=1 " * 9, limits=limits))
    chart = headroom_chart.drawn(answer, width=width)

    text = click.unstyle(render(answer, TIMES, Style(width=width), chart=chart)).splitlines()

    assert max(map(len, text)) <= width


# Charts


def test_bars_are_as_long_as_what_is_in_use() -> None:
    text = headroom_chart.drawn(report(), width=60)

    assert text[0] == "a&b: 2 × A<10 on 1 node"
    assert text[1] == f"  memory      {'█' * 5}{'░' * 15}  25% in use of 2.0 GiB"
    assert text[2] == f"  cores       {'█' * 1}{'░' * 19}  5% in use"
    assert text[5] == f"  up to 1/2   {'█' * 20} 1"


def test_what_is_overcommitted_stays_within_the_bar() -> None:
    pools = (PoolReport(name="a", nodes=1, devices=(devices(used=5000),)),)

    text = headroom_chart.drawn(report(pools=pools), width=60)

    assert text[1] == f"  memory      {'█' * 20}  250% in use of 2.0 GiB"


def test_the_drawing_is_well_formed_and_says_what_it_shows() -> None:
    root = ET.fromstring(headroom_svg.drawn(report()))

    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Occupancy of devices"
    assert "a&b: 2 × A<10 on 1 node" in texts
    assert {"in use", "devices by free memory", "0%", "100%", "25%"} <= set(texts)


def test_the_drawing_has_colours_for_dark_ground_and_takes_nothing_from_outside() -> None:
    text = headroom_svg.drawn(report())

    assert "prefers-color-scheme: dark" in text
    assert text.count("://") == 1


def test_without_devices_there_is_little_to_draw() -> None:
    answer = report(pools=(PoolReport(name="a", nodes=1),))

    assert headroom_chart.drawn(answer, width=None) == []
    assert "There are no devices." in headroom_svg.drawn(answer)


# The command


def test_csv_has_a_line_an_ask_and_pool(capsys: Captured) -> None:
    code = run(["headroom", EXAMPLE, "-o", "csv", "--ask", "cpu=2,memory=4Gi"])

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert code == 0
    assert [row["pool"] for row in rows] == ["(all)", "a100-80g", "h100", "t4", "cpu-large"]
    assert int(rows[0]["more"]) == sum(int(row["more"]) for row in rows[1:])


def test_headings_can_be_left_out(capsys: Captured) -> None:
    run(["headroom", EXAMPLE, "-o", "csv", "--no-headers"])
    first = capsys.readouterr().out.splitlines()[0]
    run(["headroom", EXAMPLE, "--no-headers"])
    table = capsys.readouterr().out

    assert first.startswith("team-a/web,Pods,")
    assert "POOL " not in table


def test_names_are_those_of_which_more_fit(capsys: Captured) -> None:
    run(["headroom", EXAMPLE, "-o", "name", "--about", "pods"])

    assert capsys.readouterr().out.splitlines() == [
        "ask.springtide.io/team-a/web",
        "ask.springtide.io/team-b/embed",
    ]


def test_json_is_versioned(capsys: Captured) -> None:
    run(["headroom", EXAMPLE, "-o", "json"])

    answer = json.loads(capsys.readouterr().out)
    assert (answer["apiVersion"], answer["kind"]) == ("springtide.io/v1alpha1", "Headroom")


def test_a_manifest_is_answered_for(capsys: Captured, tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec:\n  containers:\n"
        "  - {name: main, image: x, resources: {requests: {cpu: '2', memory: 4Gi}}}\n"
    )

    run(["headroom", EXAMPLE, "--manifest", str(manifest), "-o", "json"])

    answer = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["source"]) for each in answer["asks"]] == [("default/new", "Given")]
    assert answer["input"]["pods"] == 30


def test_the_drawing_is_written_beside_the_answer(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"

    code = run(["headroom", EXAMPLE, "--svg", str(path)])

    assert code == 0
    assert ET.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--ask", "gpumm=1"], "Did you mean gpumem?"),
        (["--chart", "-o", "json"], "does not go with -o json"),
        (["-o", "tabel"], "Did you mean table?"),
        (["--about", "lader"], "Did you mean ladder?"),
        (["--max-asks", "-1"], "-1"),
        (["--svg", "no/such/folder/chart.svg"], "cannot be written"),
    ],
)
def test_wrong_usage_ends_with_one_message(
    arguments: list[str], sentence: str, capsys: Captured
) -> None:
    code = run(["headroom", EXAMPLE, *arguments])

    printed = capsys.readouterr()
    assert code == 2
    assert sentence in printed.err
    assert printed.out == ""

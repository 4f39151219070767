"""`springtide replay` as people and programs use it: options, endings, formats."""

import csv
import io
import json
from pathlib import Path

import click
import pytest

from springtide.apps.headroom.report import LimitReport
from springtide.apps.planner.report import ApartPod, InputReport
from springtide.apps.replay.report import (
    ChangesReport,
    DecisionReport,
    DifferenceReport,
    ReasonPods,
    ReplayReport,
    RunReport,
)
from springtide.cli.main import run
from springtide.cli.options import DEVICE_POLICIES, NODE_POLICIES
from springtide.cli.replay import POLICIES
from springtide.cli.replay_table import LIMIT, NODES_MAX, REASONS_MAX, Style, Times, render

EXAMPLE = str(Path(__file__).resolve().parents[3] / "examples" / "spread-out")
TIMES = Times(reading_s=0.084, replaying_s=0.021)
NODES_CSV = "sn,cpu_milli,memory_mib,gpu,model\nn0,8000,16384,2,T4\nn1,8000,16384,2,T4\n"
PODS_CSV = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n"
    "a,1000,1024,1,500,,0,5\nb,1000,1024,1,500,,3,\nc,1000,1024,2,1000,,7,\n"
)

Captured = pytest.CaptureFixture[str]


def trace(folder: Path, *, nodes: str = NODES_CSV, pods: str = PODS_CSV) -> list[str]:
    """Write a trace and return the options that name it."""
    (folder / "nodes.csv").write_text(nodes)
    (folder / "pods.csv").write_text(pods)
    return ["--trace", str(folder / "nodes.csv"), "--pods", str(folder / "pods.csv")]


def difference(name: str, **second: object) -> DifferenceReport:
    """Return a pod that goes to node a under the first policy."""
    given: dict[str, object] = {"policy": "second", "node": "b", **second}
    decisions = (DecisionReport(policy="first", node="a"), DecisionReport(**given))  # type: ignore[arg-type]  # any fields
    return DifferenceReport(pod=name, order=1, created="", change="Node", decisions=decisions)


def report(
    *differences: DifferenceReport,
    reasons: tuple[ReasonPods, ...] = (),
    emptied: tuple[str, ...] = (),
    apart: tuple[ApartPod, ...] = (),
) -> ReplayReport:
    """Return a report of two policies."""
    runs = tuple(
        RunReport(
            policy=name,
            placed=3,
            refused=0,
            reasons=own,
            nodes_in_use=2,
            emptied=nodes,
            families=(),
        )
        for name, own, nodes in (("first", (), ()), ("second", reasons, emptied))
    )
    return ReplayReport(
        summary="Some pods differ.",
        is_same=not differences,
        policy="first",
        against="second",
        pods=3,
        runs=runs,
        changes=ChangesReport(node=len(differences)),
        differences=differences,
        apart=apart,
        input=InputReport(objects=3, kinds={"Node": 1}, nodes=1, pods=2, skipped=0),
    )


def lines(answer: ReplayReport, style: Style | None = None) -> list[str]:
    """Return the lines of the text without colour."""
    return click.unstyle(render(answer, TIMES, style or Style())).splitlines()


# Endings


def test_the_exit_code_says_whether_anything_differs(capsys: Captured) -> None:
    differs = run(["replay", EXAMPLE])
    same = run(["replay", EXAMPLE, "--against", "binpack/spread"])

    assert (differs, same) == (1, 0)
    assert "do not differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--policy", "binpak/spread"], "Did you mean binpack/spread?"),
        (["--against", "recordet"], "Did you mean recorded?"),
        (["--against", "spread"], "'spread' is no policy. Write NODES/DEVICES with"),
        (["--against", "fifo"], "'fifo' is no policy. Write NODES/DEVICES with binpack, spread,"),
        (["--policy", "recorded"], "What is recorded does not differ from itself."),
        (["--with-departures"], "--with-departures needs --trace"),
        (["--trace", "nodes.csv"], "--trace needs --pods"),
        (["--pods", "pods.csv"], "--pods needs --trace"),
        (["--trace", "nodes.csv", "--pods", "pods.csv"], "--trace and other input exclude"),
        (["--limit", "-1"], "--limit"),
        (["-o", "jsn"], "Did you mean json?"),
        (["--polcy", "recorded"], "--policy"),
    ],
)
def test_wrong_options_end_with_a_sentence(
    arguments: list[str], told: str, capsys: Captured
) -> None:
    code = run(["replay", EXAMPLE, *arguments])

    printed = capsys.readouterr()
    assert code == 2
    assert told in printed.err
    assert printed.out == ""


def test_manifests_alone_have_no_record(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "pod.json"
    path.write_text('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}}')

    code = run(["replay", str(path)])

    assert code == 2
    assert "Name two policies: --policy binpack/spread --against" in capsys.readouterr().err


def test_there_are_as_many_policies_as_pairs_of_words_and_the_record() -> None:
    assert len(set(POLICIES)) == len(NODE_POLICIES) * len(DEVICE_POLICIES) + 1


# Formats


def test_json_has_every_pod_that_differs_and_the_limit_is_for_people(capsys: Captured) -> None:
    code = run(["replay", EXAMPLE, "-o", "json", "--limit", "1"])

    found = json.loads(capsys.readouterr().out)
    assert code == 1
    assert found["kind"] == "Replay"
    assert len(found["differences"]) == 8
    assert [each["policy"] for each in found["runs"]] == ["binpack/spread", "recorded"]


def test_csv_has_a_line_a_pod_and_policy(capsys: Captured) -> None:
    run(["replay", EXAMPLE, "-o", "csv"])

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 16
    assert rows[-1]["pod"] == "team-lab/tune-1"
    assert rows[-1]["policy"] == "recorded"
    assert rows[-1]["reason"] == "waits for a node"
    assert rows[-2]["devices"] == "0,1,2,3"


def test_csv_without_headers_has_lines_of_pods_alone(capsys: Captured) -> None:
    run(["replay", EXAMPLE, "-o", "csv", "--no-headers"])

    assert capsys.readouterr().out.startswith("3,team-chat/chat-0,")


def test_names_are_those_that_why_takes(capsys: Captured) -> None:
    run(["replay", EXAMPLE, "-o", "name"])
    first = capsys.readouterr().out.splitlines()[-1]

    code = run(["why", first, "-f", EXAMPLE])

    assert first == "pod/team-lab/tune-1"
    assert code == 1


def test_nothing_is_printed_of_names_where_no_pod_differs(capsys: Captured) -> None:
    run(["replay", EXAMPLE, "--against", "binpack/spread", "-o", "name"])

    assert capsys.readouterr().out == ""


# Text


def test_the_answer_comes_first_and_the_timing_last() -> None:
    text = lines(report(difference("t/a")))

    assert text[0] == "Some pods differ."
    assert text[-1] == "Read 3 objects in 0.08 s. Replayed in 0.02 s."


def test_a_long_list_of_pods_ends_in_how_many_more_there_are() -> None:
    many = report(*(difference(f"t/{number}") for number in range(LIMIT + 5)))

    assert "... and 5 more; --limit or -o wide lists them." in lines(many)
    assert "... and 24 more; --limit or -o wide lists them." in lines(many, Style(limit=1))
    assert not any("more;" in line for line in lines(many, Style(is_wide=True)))


def test_no_pods_are_listed_if_none_are_wanted() -> None:
    text = lines(report(difference("t/a")), Style(limit=0))

    assert "... and 1 more; --limit or -o wide lists them." in text
    assert not any("POD THAT DIFFERS" in line for line in text)


def test_the_limit_holds_in_wide_too() -> None:
    many = report(*(difference(f"t/{number}") for number in range(3)))

    assert any("and 2 more" in line for line in lines(many, Style(is_wide=True, limit=1)))


def test_a_refused_pod_says_why_and_wide_says_all_of_it() -> None:
    refusals = (LimitReport(reason="Insufficient cpu", nodes=2), LimitReport(reason="X", nodes=1))
    answer = report(difference("t/a", node="", reason="Insufficient cpu", refusals=refusals))

    assert any(line.endswith("refused: Insufficient cpu on 2 nodes") for line in lines(answer))
    wide = lines(answer, Style(is_wide=True))
    assert any(line.endswith("Insufficient cpu on 2 nodes, X on 1 node") for line in wide)


def test_rare_reasons_are_added_up() -> None:
    reasons = tuple(ReasonPods(reason=f"reason {n}", pods=n) for n in range(1, REASONS_MAX + 3))

    text = lines(report(reasons=reasons))

    assert any(line.split() == ["2", "other", "reasons", "0", "3"] for line in text)
    wide = lines(report(reasons=reasons), Style(is_wide=True))
    assert any(line.split() == ["reason", "1", "0", "1"] for line in wide)


def test_emptied_nodes_are_named_up_to_a_bound() -> None:
    emptied = tuple(f"n{number}" for number in range(NODES_MAX + 2))

    text = lines(report(emptied=emptied))

    assert "second      n0 n1 n2 n3 n4 and 2 more" in text
    wide = lines(report(emptied=emptied), Style(is_wide=True))
    assert "second      n0 n1 n2 n3 n4 n5 n6" in wide


def test_pods_that_could_not_come_are_told_by_reason() -> None:
    apart = tuple(ApartPod(pod=f"t/{name}", reason="is being deleted") for name in "ab")

    assert "t/a t/b   is being deleted" in lines(report(apart=apart))


# Traces


def test_a_trace_is_replayed_from_its_two_files(tmp_path: Path, capsys: Captured) -> None:
    code = run(["replay", *trace(tmp_path)])

    printed = capsys.readouterr().out
    assert code == 1
    assert printed.startswith("2 of 3 pods differ between binpack/spread and spread/binpack: ")
    assert "RECORDED" not in printed


def test_pods_of_a_trace_go_if_wanted(tmp_path: Path, capsys: Captured) -> None:
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
    pods += "a,1,1,2,1000,0,5\nb,1,1,2,1000,1,6\nc,1,1,2,1000,7,\n"
    options = trace(tmp_path, pods=pods)

    run(["replay", *options, "-o", "json"])
    staying = json.loads(capsys.readouterr().out)
    run(["replay", *options, "-o", "json", "--with-departures"])
    going = json.loads(capsys.readouterr().out)

    assert [each["placed"] for each in staying["runs"]] == [2, 2]
    assert [each["placed"] for each in going["runs"]] == [3, 3]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pods": PODS_CSV.replace("500", "5oo", 1)}, "pods.csv, line 2: gpu_milli"),
        ({"nodes": "sn,cpu_milli\n"}, "nodes.csv"),
        ({"nodes": ""}, "the file is empty"),
        ({"pods": PODS_CSV.replace("b,1000", "a,1000")}, "stands on line 2 already"),
    ],
)
def test_a_faulty_trace_ends_with_file_line_and_column(
    change: dict[str, str], told: str, tmp_path: Path, capsys: Captured
) -> None:
    code = run(["replay", *trace(tmp_path, **change)])

    assert code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("option", [["-A"], ["--context", "c"], ["--kubeconfig", "k"]])
def test_a_trace_is_not_read_beside_a_cluster(
    option: list[str], tmp_path: Path, capsys: Captured
) -> None:
    code = run(["replay", *trace(tmp_path), *option])

    assert code == 2
    assert "--trace and other input exclude each other" in capsys.readouterr().err


def test_a_missing_file_of_a_trace_is_named(tmp_path: Path, capsys: Captured) -> None:
    code = run(["replay", *trace(tmp_path)[:3], str(tmp_path / "absent.csv")])

    assert code == 2
    assert "absent.csv" in capsys.readouterr().err


def test_departures_of_a_trace_without_times_are_refused(tmp_path: Path, capsys: Captured) -> None:
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n"

    code = run(["replay", *trace(tmp_path, pods=pods), "--with-departures"])

    assert code == 2
    assert "pod a has no creation_time" in capsys.readouterr().err


def test_a_trace_has_no_record(tmp_path: Path, capsys: Captured) -> None:
    code = run(["replay", *trace(tmp_path), "--against", "recorded"])

    assert code == 2
    assert "nothing is recorded to compare with" in capsys.readouterr().err

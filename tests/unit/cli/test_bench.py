"""`springtide bench openb` from its command line to files, exit codes and what is left behind."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.cli import bench_plot
from springtide.cli.bench_words import POLICIES
from springtide.cli.main import run
from tests.benches import EXAMPLE, OPENB
from tests.sweeping import PATH, dask_cluster

LISTS: Final = ["--nodes", str(EXAMPLE / "nodes.csv"), "--pods", str(EXAMPLE / "pods.csv")]
ROOT: Final = Path(__file__).resolve().parents[3]
# A shell starts background jobs deaf to interrupts, and this may run in one.
LISTENING: Final = """
import signal, sys
from springtide.cli.main import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[0] = "springtide"
    main()
"""
Captured = pytest.CaptureFixture[str]


def bench(*arguments: str) -> int:
    """The exit code of a benchmark in this process, of the example unless other lists are named."""
    lists = [] if {"--pods", "--trace", "--replay"} & set(arguments) else LISTS
    return run(["bench", "openb", *lists, "--workers", "1", *arguments])


def report(capsys: Captured) -> dict[str, Any]:
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_answer_tells_every_run_and_their_means(capsys: Captured) -> None:
    code = bench("--policy", "fgd,random", "--seeds", "3-5", "-o", "json")

    found = report(capsys)
    assert code == 0
    assert (found["apiVersion"], found["kind"]) == ("springtide.io/v1alpha1", "Bench")
    assert [(each["policy"], each["seed"]) for each in found["runs"]] == [
        (policy, seed) for policy in ("fgd", "random") for seed in (3, 4, 5)
    ]
    assert [(each["policy"], each["runs"]) for each in found["spreads"]] == [
        ("fgd", 3),
        ("random", 3),
    ]
    assert found["checks"] == []


def test_all_stands_for_every_policy(capsys: Captured) -> None:
    bench("--policy", "fgd,all", "--seeds", "1", "-o", "json")

    runs = report(capsys)["runs"]
    assert tuple(each["policy"] for each in runs) == POLICIES
    assert {each["policy"] for each in runs if each["engine"] == "live"} == {"prod"}


def test_processes_give_the_answer_of_one(capsys: Captured) -> None:
    asked = ["--policy", "fgd,random", "--seeds", "1-2", "--check", "-o", "json"]
    bench(*asked)
    alone = report(capsys)

    run(["bench", "openb", *LISTS, "--workers", "2", *asked])

    together = report(capsys)
    assert together["done_by"] == "2 processes"
    untimed = ("trace", "policy", "seed", "placed", "failed", "alloc_pct", "frag_milli")
    for name in untimed:
        assert [each[name] for each in together["runs"]] == [each[name] for each in alone["runs"]]
    assert together["checks"] == alone["checks"]


def test_a_dask_cluster_gives_the_answer_of_one_process(tmp_path: Path, capsys: Captured) -> None:
    asked = ["--policy", "fgd,random", "--seeds", "1-2", "-o", "json"]
    bench(*asked)
    alone = report(capsys)

    with dask_cluster(tmp_path) as address:
        code = run(["bench", "openb", *LISTS, "--dask", address, *asked])

    together = report(capsys)
    assert code == 0
    assert together["done_by"] == f"the Dask cluster at {address}"
    for name in ("policy", "seed", "placed", "failed_by_class", "alloc_pct", "frag_labels"):
        assert [each[name] for each in together["runs"]] == [each[name] for each in alone["runs"]]


def test_the_report_is_written_beside_the_table(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "report.json"

    bench("--policy", "fgd", "--seeds", "1", "--json", str(path))

    assert capsys.readouterr().out.startswith("fgd places ")
    assert json.loads(path.read_text("utf-8"))["kind"] == "Bench"


def test_curves_and_placements_have_a_line_an_arrival(tmp_path: Path, capsys: Captured) -> None:
    curve, placements = tmp_path / "curve.csv", tmp_path / "placements.csv"

    bench(
        *("--policy", "fgd,gpu-packing", "--seeds", "1", "-o", "json"),
        *("--curve", str(curve), "--placements", str(placements)),
    )

    pods = report(capsys)["runs"][0]["pods"]
    steps = list(csv.DictReader(curve.read_text().splitlines()))
    assert len(steps) == 2 * pods
    assert list(steps[0])[3:] == ["seq", "arrived_milli", "used_milli", "frag_milli"]
    placed = list(csv.reader(placements.read_text().splitlines()))
    assert placed[0] == ["seq", "fgd", "gpu_packing"]
    assert len(placed) == pods + 1


@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", b"<?xml"), ("a.SVG", b"<?xml"), ("a.png", b"\x89PNG")]
)
def test_a_drawing_has_the_format_of_its_name(name: str, begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / name

    bench("--policy", "fgd,random", "--seeds", "1-2", "--plot", str(path))

    assert path.read_bytes().startswith(begins)


def test_a_drawing_names_axes_units_and_policies(tmp_path: Path) -> None:
    path, again = tmp_path / "a.svg", tmp_path / "b.svg"

    bench(
        *("--policy", "fgd,random", "--seeds", "1-2"),
        *("--plot", str(path), "--plot", str(again)),
    )

    text = path.read_text("utf-8")
    words = ("allocated, % of all GPUs", "asked for by the pods so far", "fgd", "random", "pods: ")
    assert all(word in text for word in words)
    assert path.read_bytes() == again.read_bytes()


def test_a_recorded_order_meets_its_placements(capsys: Captured) -> None:
    code = bench("--replay", "default_t13_s42", "--policy", "bestfit", "--check", "-o", "json")

    checks = {each["name"]: each["state"] for each in report(capsys)["checks"]}
    assert code == 0
    assert checks["placements of bestfit on default"] == "passed"
    assert checks["numbers of bestfit on default"] == "passed"
    assert checks["invariants on default"] == "passed"


def test_a_check_that_fails_ends_with_one(tmp_path: Path, capsys: Captured) -> None:
    for name in ("arrivals", "noderank", "placements"):
        golden = OPENB / "golden" / f"default_t13_s42_{name}.csv"
        text = golden.read_text("utf-8")
        # FGD's first choice is another node.
        changed = re.sub(r"^0,[^,]+", "0,openb-node-0000:0", text, count=1, flags=re.MULTILINE)
        (tmp_path / golden.name).write_text(changed if name == "placements" else text, "utf-8")

    code = bench("--replay", str(tmp_path / "default_t13_s42"), "--policy", "fgd", "--check")

    shown = capsys.readouterr().out
    assert code == 1
    assert "failed   placements of fgd on default" in shown
    assert "1 of 10,866 differ, first arrival 0: " in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--policy", "fgdd"], "Did you mean fgd?"),
        (["--trace", "multigpu"], "Did you mean multigpu50?"),
        (["--seeds", "51-42"], "'51-42' runs backwards; write 42-51."),
        (["--seeds", "many"], "'many' names no seeds; write 42 or 42-51."),
        (["--seeds", "0-10000"], "are more than 10,000 seeds"),
        (["--seeds", str(2**63)], "a seed is at most"),
        (["--tune", "nan", "--seeds", "1"], "The share of GPUs to ask for is no number"),
        (["--tune", "-1"], "is not in the range x>=0"),
        (["--plot", "a.pdf"], "'a.pdf' has no known format; let it end in .svg or .png."),
        (["--trace", "default", "--pods", "a"], "--trace and --pods exclude each other"),
        (["--seeds", "1", "--replay", "a"], "--seeds and --replay exclude each other"),
        (["--tune", "1", "--replay", "a"], "--tune and --replay exclude each other"),
        (["--dask", "tcp://a:1"], "--workers and --dask exclude each other"),
        (["--placements", "a"], "--placements are of one trace and one order"),
        (["--replay", "nowhere/a"], "nowhere/a_arrivals.csv: there is no such file"),
        (["--pods", "none.csv"], "none.csv: there is no such file or folder"),
        (["--json", "none/a"], "none/a: its folder does not exist. Make it"),
    ],
)
def test_what_makes_no_sense_is_told_with_what_to_do(
    arguments: list[str], told: str, capsys: Captured
) -> None:
    code = bench(*arguments)

    printed = capsys.readouterr()
    assert code == 2
    assert told in printed.err
    assert printed.out == ""


def test_a_file_in_another_format_is_told_with_its_line(capsys: Captured) -> None:
    code = bench("--pods", str(EXAMPLE / "nodes.csv"))

    assert code == 2
    assert "nodes.csv, line 1: name: the column is missing" in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_ends_with_three(capsys: Captured) -> None:
    code = run(["bench", "openb", *LISTS, "--seeds", "1", "--dask", "tcp://127.0.0.1:1"])

    assert code == 3
    assert "the Dask scheduler at tcp://127.0.0.1:1 does not answer" in capsys.readouterr().err


def begun() -> subprocess.Popen[str]:
    """A long benchmark on two processes, of which at least one run is over and others are not."""
    arguments = [*LISTS, "--policy", "fgd", "--seeds", "1-9000", "--workers", "2", "-v2"]
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, "bench", "openb", *arguments],
        env={**os.environ, "PYTHONPATH": PATH},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("replayed ")
    return process


def test_an_interrupt_ends_it_without_a_trace(tmp_path: Path) -> None:
    with begun() as process:
        # As a terminal does: everybody hears of it.
        os.killpg(process.pid, signal.SIGINT)
        # Ends when the last worker does, which has the same standard error.
        out, err = process.communicate()

    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def worker_of(pid: int) -> int:
    """One of the processes that do a process's runs."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return next(
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="Only Linux tells whose process is whose.")
def test_a_worker_that_dies_is_told_with_its_run() -> None:
    with begun() as process:
        os.kill(worker_of(process.pid), signal.SIGKILL)
        _, err = process.communicate()

    assert process.returncode == 3
    assert re.search(
        r"^Error: fgd on pods, seed \d+: the process that did it ended", err, re.MULTILINE
    )
    assert "Use fewer --workers" in err


def test_an_installed_package_asks_for_the_lists_that_it_lacks(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "springtide", tmp_path / "lib" / "springtide", ignore=ignored)

    done = subprocess.run(
        [sys.executable, "-m", "springtide", "bench", "openb", "--seeds", "1"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == (
        "Error: The public trace is not here: it comes with the source, in tests/recorded/openb, and "
        "not with an installed package. Run springtide from a checkout, or name --nodes and --pods.\n"
    )


def test_what_draws_is_asked_for_before_anything_is_run(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    # A name that is None in the table of modules cannot be imported.
    program = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from springtide.cli.main import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "bench", "openb", *LISTS, "--plot", str(path), "-v2"],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == f"Error: {bench_plot.INSTALL}\n"
    assert not path.exists()

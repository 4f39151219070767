"""Command lines of `springtide why` and their endings: exit codes, and which stream says what."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from springtide.cli.main import run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WARM = str(EXAMPLES / "warm-group")

Captured = pytest.CaptureFixture[str]


def test_a_pod_that_does_not_fit_ends_with_1(capsys: Captured) -> None:
    code = run(["why", "team-b/big-0", "-f", WARM])

    printed = capsys.readouterr()
    assert code == 1
    assert printed.out.startswith("team-b/big-0 fits on none of the 6 nodes.")
    assert printed.err == ""


def test_a_pod_that_runs_ends_with_0(capsys: Captured) -> None:
    code = run(["why", "-n", "team-b", "embed-0", "-f", WARM])

    assert code == 0
    assert capsys.readouterr().out.startswith("team-b/embed-0 is on node gpu-")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["why", "team-a/trian-0", "-f", WARM], "Did you mean team-a/train-0?"),
        (["why", "-l", "a==b==c", "-f", WARM], "-l a==b==c: "),
        (["why", "-l", "a=b", "-f", WARM], "No pod has labels that match 'a=b'."),
        (["why", "a/b", "-l", "a=b", "-f", WARM], "Name pods or give -l, not both"),
        (["why", "a/b", "-f", "nowhere"], "there is no such file or folder"),
        (["why", "a/b", "-f", WARM, "-o", "jsno"], "Did you mean json?"),
        (["wy"], "Did you mean why?"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_clear_message(
    arguments: list[str], sentence: str, capsys: Captured
) -> None:
    code = run(arguments)

    printed = capsys.readouterr()
    assert code == 2
    assert sentence in printed.err
    assert printed.out == ""


def test_names_are_those_of_pods_that_do_not_fit(capsys: Captured) -> None:
    run(["why", "team-b/big-0", "team-b/embed-0", "-f", WARM, "-o", "name"])

    assert capsys.readouterr().out == "pod/team-b/big-0\n"


def test_json_and_yaml_say_the_same(capsys: Captured) -> None:
    run(["why", "team-b/big-0", "-f", WARM, "-o", "json"])
    as_json = json.loads(capsys.readouterr().out)
    run(["why", "team-b/big-0", "-f", WARM, "-o", "yaml"])
    as_yaml = yaml.safe_load(capsys.readouterr().out)

    assert as_json == as_yaml
    assert (as_json["apiVersion"], as_json["kind"]) == ("springtide.io/v1alpha1", "Why")


def test_problems_of_the_input_are_told_where_they_are_asked_for(
    tmp_path: Path, capsys: Captured
) -> None:
    broken = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": 3}}
    waits = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u"},
        "spec": {"containers": [{"name": "m"}]},
    }
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [broken, waits]}))

    run(["why", "-f", str(path), "--warnings"])

    printed = capsys.readouterr()
    assert "Warning: " in printed.err
    assert "Node/n" in printed.err
    assert "It fits nowhere" not in printed.out
    assert printed.out.startswith("default/p fits nowhere: there is no node.")


def test_what_is_piped_in_is_read() -> None:
    piped = (EXAMPLES / "warm-group" / "cluster.json").read_bytes()

    done = subprocess.run(
        [sys.executable, "-m", "springtide", "why", "team-b/big-0", "-o", "name"],
        input=piped,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, b"pod/team-b/big-0\n", b"")


def test_help_loads_nothing_of_the_engine() -> None:
    code = (
        "import sys; from springtide.cli.main import run; run(['why', '--help']); "
        "print([name for name in sys.modules if name.startswith(('springtide.engine', 'numpy'))])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout.splitlines()[-1] == "[]"

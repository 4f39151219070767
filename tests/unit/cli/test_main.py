"""Command lines and their endings: exit codes, and which stream says what."""

from pathlib import Path

import pytest

from springtide import __version__
from springtide.cli.main import program, run
from springtide.cli.plan import EXPANDERS, FORMATS
from springtide.policies.expanders import NAMES

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version_is_printed(arguments: list[str], capsys: Captured) -> None:
    code = run(arguments)

    assert code == 0
    assert capsys.readouterr().out == f"springtide {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plan", "--help"], ["plan", "-h"], ["why", "--help"]]
)
def test_help_goes_to_standard_output(arguments: list[str], capsys: Captured) -> None:
    code = run(arguments)

    printed = capsys.readouterr()
    assert code == 0
    assert "Exit codes:" in printed.out
    assert printed.err == ""


def test_help_names_the_program_as_it_was_called(capsys: Captured) -> None:
    run(["plan", "--help"], prog_name="kubectl springtide")

    printed = capsys.readouterr().out
    assert printed.startswith("Usage: kubectl springtide plan ")
    assert "\n    kubectl springtide plan FOLDER\n" in printed
    assert "-o json | kubectl springtide plan --groups" in printed


def test_examples_of_help_name_the_program_itself(capsys: Captured) -> None:
    run(["plan", "--help"], prog_name="springtide")

    assert "\n    springtide plan FOLDER\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("somewhere/bin/springtide", "springtide"),
        ("somewhere/bin/kubectl-springtide", "kubectl springtide"),
        ("somewhere/kubectl-springtide.exe", "kubectl springtide"),
        ("somewhere/springtide/__main__.py", None),
    ],
)
def test_the_program_is_called_what_people_type(path: str, name: str | None) -> None:
    assert program(path) == name


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pln"], "There is no command 'pln'. Did you mean plan?"),
        (["plan", "-o", "tabel"], "'tabel' is none of table, wide, json, yaml, name."),
        (["plan", "-o", "tabel"], "Did you mean table?"),
        (["plan", "--expander", "price,least-wast"], "Did you mean least-waste?"),
        (["plan", "--node-policy", "spred"], "Did you mean spread?"),
        (["plan", "--sed", "1"], "--seed"),
        (["plan", "--seed", "x"], "'x' is not a valid integer"),
        (["plan", "--max-nodes-total", "-1"], "-1"),
        (["plan", "--max-devices-total", "NVIDIA"], "Write NAME:N, as in NVIDIA:16."),
        (["plan", "--max-devices-total", ":3"], "':3' is no limit."),
        (["plan", "--max-resource-total", "pods:-1"], "'pods:-1' is no limit."),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest(
    arguments: list[str], sentence: str, capsys: Captured
) -> None:
    code = run(arguments)

    printed = capsys.readouterr()
    assert code == 2
    assert sentence in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("chain", ["price,price", "random,price"])
def test_a_chain_that_makes_no_sense_is_refused(chain: str, capsys: Captured) -> None:
    code = run(["plan", str(EXAMPLES / "card-memory"), "--expander", chain])

    printed = capsys.readouterr()
    assert code == 2
    assert printed.err.startswith("Error: expander '")
    assert printed.out == ""


def test_a_missing_file_is_named(capsys: Captured) -> None:
    code = run(["plan", "nowhere/cluster.json"])

    printed = capsys.readouterr()
    assert code == 2
    assert printed.err == (
        "Error: nowhere/cluster.json: there is no such file or folder; check the path.\n"
    )
    assert printed.out == ""


def test_a_wrong_field_is_named_with_its_place(tmp_path: Path, capsys: Captured) -> None:
    groups = tmp_path / "groups.yaml"
    groups.write_text(
        "apiVersion: springtide.io/v1alpha1\n"
        "kind: NodeGroups\n"
        "groups:\n"
        "- name: a\n"
        "  maxSize: 3\n"
        "  maxsize: 4\n"
    )

    code = run(["plan", str(groups)])

    printed = capsys.readouterr()
    assert code == 2
    assert str(groups) in printed.err
    assert "maxsize" in printed.err
    assert len(printed.err.splitlines()) == 1


def test_files_are_read_from_arguments_and_options_alike(capsys: Captured) -> None:
    folder = EXAMPLES / "card-memory"

    whole = run(["plan", str(folder), "-o", "json"]), capsys.readouterr().out
    named = ["-f", str(folder / "cluster.yaml"), "--groups", str(folder / "groups.yaml")]
    parts = run(["plan", *named, "-o", "json"]), capsys.readouterr().out

    assert whole == parts


def test_without_node_groups_the_plan_says_only_what_fits(capsys: Captured) -> None:
    code = run(["plan", str(EXAMPLES / "card-memory" / "cluster.yaml")])

    printed = capsys.readouterr()
    assert code == 1
    assert "There is no node group to grow" in printed.out
    assert "--groups" in printed.out


def test_problems_are_counted_and_told_on_request(tmp_path: Path, capsys: Captured) -> None:
    nodes = tmp_path / "nodes.json"
    nodes.write_text(
        '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node",'
        '"metadata":{"name":"gpu-7","annotations":{"hami.io/node-nvidia-register":"[{"}}}]}'
    )

    run(["plan", str(nodes)])
    short = capsys.readouterr()
    run(["plan", str(nodes), "--warnings"])
    full = capsys.readouterr()

    assert "(1 problem: Node/gpu-7; --warnings says more)" in short.out
    assert short.err == ""
    assert full.err.startswith(f"Warning: {nodes}: Node/gpu-7, ")


def test_limits_of_the_whole_cluster_are_kept(capsys: Captured) -> None:
    code = run(["plan", str(EXAMPLES / "cold-zero"), "--max-nodes-total", "2"])

    assert code == 1
    assert "Adding 1 node to h100" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("limits", "resources"),
    [
        (["--max-devices-total", "NVIDIA:8"], "NVIDIA (0 of 8 left, a new node has 8)"),
        (
            ["--max-devices-total", "NVIDIA-NVIDIA H100 80GB HBM3:15"],
            "NVIDIA-NVIDIA H100 80GB HBM3 (7 of 15 left, a new node has 8)",
        ),
        (["--max-resource-total", "memory:3Ti"], "memory (960Gi of 3Ti left, a new node has 2Ti)"),
        (
            ["--max-resource-total", "cpu:1000", "--max-cores-total", "300"],
            "cpu (92 of 300 left, a new node has 192)",
        ),
    ],
)
def test_limits_of_devices_and_other_resources_are_kept(
    limits: list[str], resources: str, capsys: Captured
) -> None:
    code = run(["plan", str(EXAMPLES / "cold-zero"), *limits])

    printed = capsys.readouterr().out
    assert code == 1
    assert f'exceeded quota: "cluster-wide", resources: {resources}.' in printed


def test_a_limit_of_what_nobody_has_is_told(capsys: Captured) -> None:
    run(["plan", str(EXAMPLES / "cold-zero"), "--max-devices-total", "NVIDA:8"])

    assert "The limit of NVIDA limits nothing" in capsys.readouterr().out


def test_groups_are_raised_to_their_minimum_if_asked(tmp_path: Path, capsys: Captured) -> None:
    groups = tmp_path / "groups.yaml"
    groups.write_text(
        "apiVersion: springtide.io/v1alpha1\n"
        "kind: NodeGroups\n"
        "groups:\n"
        "- {name: web, minSize: 2, maxSize: 3, template: {capacity: {cpu: 4}}}\n"
    )

    plain = run(["plan", str(groups)]), capsys.readouterr().out
    raised = run(["plan", str(groups), "--enforce-node-group-min-size"]), capsys.readouterr().out

    assert plain[0] == raised[0] == 0
    assert "Adding" not in plain[1]
    assert "Adding 2 nodes to web is only for its minimum size." in raised[1]
    assert "raised to its minimum size of 2" in raised[1]


def test_a_seed_makes_chance_repeatable(capsys: Captured) -> None:
    arguments = ["plan", str(EXAMPLES / "warm-group"), "--expander", "random", "-o", "json"]

    answers = []
    for _ in range(2):
        run([*arguments, "--seed", "7"])
        answers.append(capsys.readouterr().out)

    assert answers[0] == answers[1]


def test_headings_can_be_left_out(capsys: Captured) -> None:
    run(["plan", str(EXAMPLES / "card-memory"), "--no-headers"])

    printed = capsys.readouterr().out
    assert "GROUP" not in printed
    assert "NOT CHOSEN" not in printed


def test_the_options_offer_what_there_is() -> None:
    assert set(EXPANDERS) == set(NAMES)
    assert len(set(FORMATS)) == 5


def test_a_resource_that_the_scheduler_configuration_forgets_refuses_the_group(
    tmp_path: Path, capsys: Captured
) -> None:
    folder = EXAMPLES / "managed-resource"
    forgetful = tmp_path / "scheduler.yaml"
    named = "  - name: nvidia.com/gpucores\n    ignoredByScheduler: true\n"
    configuration = (folder / "scheduler.yaml").read_text()
    forgetful.write_text(configuration.replace(named, ""))

    code = run(["plan", str(folder / "cluster.yaml"), str(folder / "groups.yaml"), str(forgetful)])

    assert named in configuration
    assert code == 1
    assert "Insufficient nvidia.com/gpucores" in capsys.readouterr().out

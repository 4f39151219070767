"""`springtide profile`: what it reads, what it says of wrong input, and which exit codes that means."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from springtide.cli.main import run
from springtide.wire.hami import register
from tests.apiserver import PATHS, Object, api_server, kubeconfig, status
from tests.builders import REGISTRATION
from tests.profiles import CARDS, Document, document
from tests.verifying import cards

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = str(ROOT / "examples" / "device-profiles")
Captured = pytest.CaptureFixture[str]
TYPE = "node.kubernetes.io/instance-type"


def node(
    name: str, count: int = 2, *, labels: dict[str, str] | None = None, **fields: Any
) -> Object:
    """Return a node of the pool of the tests' profiles, as the API has it."""
    notes = {REGISTRATION: register.encode(cards(count, **fields))} if count else {}
    metadata = {"name": name, "uid": name, "labels": labels or {"pool": "a"}, "annotations": notes}
    ready = {"type": "Ready", "status": "True"}
    room = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "status": {"allocatable": room, "conditions": [ready]},
    }


def written(folder: Path, *objects: Document) -> str:
    """Write objects to a file, and return its name."""
    path = folder / "input.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def captured(capsys: Captured, *arguments: str) -> list[Document]:
    """Return the profiles that are captured."""
    assert run(["profile", "capture", *arguments]) == 0
    return [each["spec"] for each in yaml.safe_load_all(capsys.readouterr().out)]


def test_what_was_captured_is_verified_by_the_same_nodes(tmp_path: Path, capsys: Captured) -> None:
    source = written(tmp_path, node("n1"), node("n2"))

    run(["profile", "capture", source, "-l", "pool=a", "--name", "a10"])
    (tmp_path / "profile.yaml").write_text(capsys.readouterr().out)
    code = run(["profile", "check", source, "-f", str(tmp_path / "profile.yaml"), "-o", "json"])

    (profile,) = json.loads(capsys.readouterr().out)["profiles"]
    assert code == 0
    assert profile["name"] == "a10"
    assert [each["verdict"] for each in profile["nodes"]] == ["Verified", "Verified"]


def test_nodes_that_do_not_agree_give_the_difference_instead(
    tmp_path: Path, capsys: Captured
) -> None:
    source = written(tmp_path, node("n1"), node("n2", memory_mib=8192))

    code = run(["profile", "capture", source, "-l", "pool=a"])

    printed = capsys.readouterr()
    assert code == 1
    assert printed.out == ""
    assert "memory_mib of device 0 is 24576 on n1, 8192 on n2" in printed.err
    assert "--homogeneity" in printed.err


def test_one_kind_that_does_not_agree_keeps_no_other_from_being_captured(
    tmp_path: Path, capsys: Captured
) -> None:
    one, other = {TYPE: "one"}, {TYPE: "other"}
    source = written(
        tmp_path,
        node("a", labels=one),
        node("b", labels=other),
        node("c", 1, labels=other),
        node("d", labels={"pool": "a"}),
    )

    code = run(["profile", "capture", source])

    printed = capsys.readouterr()
    assert code == 1
    assert yaml.safe_load(printed.out)["metadata"]["name"] == "one"
    assert "other: 2 devices on b, 1 on c" in printed.err
    assert "d has no label" in printed.err


def test_two_kinds_that_would_have_one_name_are_told(tmp_path: Path, capsys: Captured) -> None:
    source = written(tmp_path, node("a", labels={TYPE: "GPU_x"}), node("b", labels={TYPE: "gpu-x"}))

    code = run(["profile", "capture", source])

    printed = capsys.readouterr()
    assert code == 1
    assert yaml.safe_load(printed.out)["metadata"]["name"] == "gpu-x"
    assert "would have the same name" in printed.err


def test_the_weakest_is_promised_on_request(tmp_path: Path, capsys: Captured) -> None:
    source = written(tmp_path, node("n1"), node("n2", memory_mib=8192))

    (spec,) = captured(capsys, source, "-l", "pool=a", "--homogeneity", "Minimum")

    assert spec["devices"][0]["memoryMiB"] == 8192
    assert spec["homogeneity"] == "Minimum"


def test_numa_nodes_that_differ_are_written_as_unknown(tmp_path: Path, capsys: Captured) -> None:
    source = written(tmp_path, node("n1"), node("n2", numa=1))

    (spec,) = captured(capsys, source, "-l", "pool=a")

    assert spec["devices"][0]["numa"] == [-1]


def test_unhealthy_cards_count_and_nodes_that_are_not_ready_do_not(
    tmp_path: Path, capsys: Captured
) -> None:
    away = node("away", 1)
    away["status"]["conditions"][0]["status"] = "False"
    source = written(tmp_path, node("n1", is_healthy=False), away)

    (spec,) = captured(capsys, source, "-l", "pool in (a,b),!gone")

    assert spec["devices"][0]["count"] == 2
    assert spec["nodeSelector"]["matchExpressions"] == [
        {"key": "gone", "operator": "DoesNotExist"},
        {"key": "pool", "operator": "In", "values": ["a", "b"]},
    ]


def test_a_group_is_captured_by_its_own_selector(tmp_path: Path, capsys: Captured) -> None:
    group = {"name": "g", "maxSize": 3, "nodeSelector": {"matchLabels": {"pool": "a"}}}
    groups = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": [group]}
    source = written(tmp_path, node("n1"), groups)

    (spec,) = captured(capsys, source, "--group", "g")

    assert spec["nodeSelector"] == {"matchLabels": {"pool": "a"}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-l", "pool=b"], "no node has the labels"),
        (["-l", "pool=="], "-l:"),
        (["-l", "pool>1"], "no node has the labels"),
        (["--group", "g"], 'no node group is called "g"'),
        (["-l", "pool=a", "--group", "g"], "exclude each other"),
        (["--name", "x"], "--name names one profile"),
        (["--by", "zone"], "has the label zone"),
        (["-l", "pool=a", "--homogeneity", "Strikt"], "Did you mean Strict?"),
        (["-l", "pool=a", "--name", "Not A Name"], "metadata.name"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], words: str, tmp_path: Path, capsys: Captured
) -> None:
    code = run(["profile", "capture", written(tmp_path, node("n1")), *arguments])

    printed = capsys.readouterr()
    assert code == 2
    assert words in printed.err
    assert printed.out == ""


def test_nodes_without_devices_are_told(tmp_path: Path, capsys: Captured) -> None:
    code = run(["profile", "capture", written(tmp_path, node("n1", 0)), "-l", "pool=a"])

    assert code == 1
    assert "of 1 node none is ready and has registered devices" in capsys.readouterr().err


def test_a_check_without_profiles_is_wrong_usage_and_a_list_is_empty(
    tmp_path: Path, capsys: Captured
) -> None:
    source = written(tmp_path, node("n1"))

    assert run(["profile", "check", source]) == 2
    assert run(["profile", "list", source]) == 0
    assert "There is no device profile in the input." in capsys.readouterr().out


def test_an_invalid_document_ends_the_check_with_its_field(
    tmp_path: Path, capsys: Captured
) -> None:
    source = written(tmp_path, document(devices=[{**CARDS, "numa": [0, 0, 1]}]))

    code = run(["profile", "check", source])

    assert code == 2
    assert "spec.devices[0].numa: 3 values for 2 devices" in capsys.readouterr().err


def test_profiles_of_no_use_are_listed_with_the_reason(tmp_path: Path, capsys: Captured) -> None:
    other = document("other", devices=[{**CARDS, "count": 4}])
    acme = document("acme", devices=[{**CARDS, "vendor": "Acme"}])
    stored = document("stored", devices=[])
    stored["metadata"]["uid"] = "u"
    source = written(tmp_path, document(), other, acme, stored, node("n1"))

    code = run(["profile", "check", source, "-o", "json"])

    report = json.loads(capsys.readouterr().out)
    assert code == 1
    assert {each["verdict"] for each in report["profiles"]} == {"Invalid"}
    assert {each["name"] for each in report["profiles"]} == {"a10", "other", "acme", "stored"}
    assert report["summary"] == "4 device profiles: 4 cannot be used."
    assert report["problems"] == []


def test_a_node_that_has_not_registered_yet_does_not_differ(
    tmp_path: Path, capsys: Captured
) -> None:
    code = run(["profile", "check", written(tmp_path, document(), node("n1", 0))])

    assert code == 0
    assert "Unregistered" in capsys.readouterr().out


def test_a_degraded_profile_stays_so_in_an_anonymised_snapshot(
    tmp_path: Path, capsys: Captured
) -> None:
    made = document()
    made["metadata"] |= {"uid": "u", "generation": 1}
    condition = {"type": "Degraded", "status": "True", "observedGeneration": 1}
    said = {"reason": "DeviceProfileMismatch", "message": "On secret-node all differs."}
    mismatch = {"node": "secret-node", **said}
    made["status"] = {"conditions": [{**condition, **said}], "mismatches": [mismatch]}
    saved = str(tmp_path / "snapshot.json")

    run(["snapshot", written(tmp_path, made), "--anonymise", "-o", saved])
    code = run(["profile", "list", saved])

    assert code == 0
    assert "NoNodes, degraded" in capsys.readouterr().out
    assert "secret-node" not in Path(saved).read_text()


def test_a_live_cluster_is_read(tmp_path: Path, capsys: Captured) -> None:
    profile = document()
    profile["metadata"] |= {"uid": "u", "generation": 1}
    objects = [node("n1", 1), profile]

    with api_server(objects) as server:
        config = kubeconfig(tmp_path / "c", server.url)
        code = run(["profile", "list", "--kubeconfig", config, "-o", "name"])

    assert code == 0
    assert capsys.readouterr().out == "deviceprofile.springtide.io/a10\n"


def test_a_cluster_that_cannot_be_reached_or_read_has_its_exit_code(
    tmp_path: Path, capsys: Captured
) -> None:
    with api_server([node("n1")]) as server:
        config = kubeconfig(tmp_path / "c", server.url)
        server.scripted[PATHS["Node"]] = [status(403, "Forbidden")] * 3
        denied = run(["profile", "check", "--kubeconfig", config])
    gone = run(["profile", "capture", "--kubeconfig", config, "--request-timeout", "1s"])

    assert (denied, gone) == (4, 3)
    assert "nodes" in capsys.readouterr().err

"""Objects under other names: what changes, what stays, and what must still match."""

import copy
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from springtide.edge import files
from springtide.wire.snapshot import Names, anonymised, found

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = sorted({path.parent for path in (ROOT / "examples").rglob("groups.yaml")})
KEY = b"key"


def other(*objects: Any) -> list[Any]:
    return anonymised(objects, Names(KEY))


def labelled(**labels: str) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": "n", "labels": labels}}


def test_references_still_match() -> None:
    node = {
        "kind": "Node",
        "metadata": {"name": "gpu-1", "labels": {"kubernetes.io/hostname": "gpu-1"}},
    }
    pod = {
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "namespace": "team",
            "annotations": {"hami.io/vgpu-node": "gpu-1"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "uid": "u-1"}],
        },
        "spec": {
            "nodeName": "gpu-1",
            "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}],
        },
    }
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "team"}}
    namespace = {"kind": "Namespace", "metadata": {"name": "team"}}

    new_node, new_pod, new_claim, new_namespace = other(node, pod, claim, namespace)

    name = new_node["metadata"]["name"]
    assert name.startswith("node-")
    assert new_node["metadata"]["labels"] == {"kubernetes.io/hostname": name}
    assert new_pod["spec"]["nodeName"] == name
    assert new_pod["metadata"]["annotations"] == {"hami.io/vgpu-node": name}
    volume = new_pod["spec"]["volumes"][0]["persistentVolumeClaim"]
    assert volume["claimName"] == new_claim["metadata"]["name"]
    assert new_pod["metadata"]["namespace"] == new_namespace["metadata"]["name"]
    owner = new_pod["metadata"]["ownerReferences"][0]
    assert (owner["apiVersion"], owner["kind"]) == ("apps/v1", "ReplicaSet")
    assert owner["uid"] != "u-1"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kubernetes.io/arch", "amd64"),
        ("nvidia.com/gpu.present", "true"),
        ("node.kubernetes.io/index", "17"),
        ("nvidia.com/cuda.driver.major", "535"),
        ("app", "on"),
        ("pod-group.scheduling.sigs.k8s.io", "true"),
    ],
)
def test_what_is_everybodys_stays(key: str, value: str) -> None:
    (node,) = other(labelled(**{key: value}))

    assert node["metadata"]["labels"] == {key: value}


@pytest.mark.parametrize(
    ("key", "value"),
    [("acme.com/team", "rocket"), ("team", "Rocket"), ("topology.kubernetes.io/zone", "berlin-1")],
)
def test_what_is_somebodys_changes(key: str, value: str) -> None:
    (node,) = other(labelled(**{key: value}))

    assert value not in json.dumps(node)
    assert ("acme" in json.dumps(node), "team" in json.dumps(node)) == (False, False)


def test_a_name_changes_even_where_it_looks_like_a_word_of_the_api() -> None:
    groups = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups",
              "groups": [{"name": "Always", "nodeSelector": {"matchLabels": {"app": "Always"}}}]}  # fmt: skip

    (changed,) = other(groups)

    (group,) = changed["groups"]
    assert group["name"] == group["nodeSelector"]["matchLabels"]["app"] != "Always"


def test_fields_that_nobody_knows_tell_nothing() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"newField": {"owner": "alice"}}}

    (changed,) = other(pod)

    assert "alice" not in json.dumps(changed)
    assert changed["spec"]["newField"].keys() == {"owner"}


def test_resources_of_somebody_are_renamed_in_asks_nodes_and_configurations_alike() -> None:
    own = "acme.com/gpu"
    node = {"kind": "Node", "status": {"capacity": {"cpu": "4", own: "8", "nvidia.com/gpu": "1"}}}
    pod = {"kind": "Pod", "spec": {"containers": [{"resources": {"limits": {own: "1"}}}]}}
    scheduler = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "http://acme:1/x", "managedResources": [{"name": own}]}],
    }
    devices = {"nvidia": {"resourceCountName": own, "resourceMemoryName": "nvidia.com/gpumem"}}

    new_node, new_pod, new_scheduler, new_devices = other(node, pod, scheduler, devices)

    cpu, name, nvidia = new_node["status"]["capacity"]
    assert (cpu, nvidia) == ("cpu", "nvidia.com/gpu")
    assert re.fullmatch(r"d-\w+\.example/key-\w+", name)
    assert new_pod["spec"]["containers"][0]["resources"]["limits"] == {name: "1"}
    (extender,) = new_scheduler["extenders"]
    assert extender["managedResources"] == [{"name": name}]
    assert re.fullmatch(r"http://d-\w+\.example", extender["urlPrefix"])
    assert new_devices["nvidia"] == {
        "resourceCountName": name,
        "resourceMemoryName": "nvidia.com/gpumem",
    }


def test_services_and_controllers_select_the_pods_that_they_selected() -> None:
    labels = {"team": "rocket", "app": "web"}
    pod = {"kind": "Pod", "metadata": {"name": "p", "labels": labels}}
    service = {"kind": "Service", "spec": {"selector": labels}}
    controller = {"kind": "ReplicaSet", "spec": {"selector": {"matchLabels": labels}}}

    new_pod, new_service, new_controller = other(pod, service, controller)

    selected = new_pod["metadata"]["labels"]
    assert "rocket" not in json.dumps(selected)
    assert new_service["spec"]["selector"] == selected
    assert new_controller["spec"]["selector"] == {"matchLabels": selected}


def test_a_pattern_finds_the_same_nodes() -> None:
    nodes = [
        {"kind": "Node", "metadata": {"name": f"n{i}"}, "spec": {"providerID": f"c:///{pool}/{i}"}}
        for i, pool in enumerate(["a", "a", "b"])
    ]
    groups = {"kind": "NodeGroups", "groups": [{"name": "g", "providerIdPattern": "c:///a/.*"}]}

    *changed, document = other(*nodes, groups)

    pattern = document["groups"][0]["providerIdPattern"]
    ids = [each["spec"]["providerID"] for each in changed]
    assert [bool(re.fullmatch(pattern, each)) for each in ids] == [True, True, False]
    assert "c:///" not in json.dumps([*changed, document])


def test_images_compare_as_they_did() -> None:
    node = {"kind": "Node", "status": {"images": [{"names": ["acme/app:latest"], "sizeBytes": 5}]}}
    pod = {"kind": "Pod", "spec": {"containers": [{"image": "acme/app"}]}}

    new_node, new_pod = other(node, pod)

    image = new_pod["spec"]["containers"][0]["image"]
    assert new_node["status"]["images"] == [{"names": [image], "sizeBytes": 5}]
    assert "acme" not in image


def test_addresses_belong_to_nobody() -> None:
    ports = [{"hostIP": "10.1.2.3"}, {"hostIP": "0.0.0.0"}]
    pod = {"kind": "Pod", "spec": {"containers": [{"ports": ports}]}}

    (changed,) = other(pod)

    first, second = changed["spec"]["containers"][0]["ports"]
    assert first["hostIP"].startswith("2")
    assert first["hostIP"] != "10.1.2.3"
    assert second["hostIP"] == "0.0.0.0"


def test_expressions_compare_with_the_new_words() -> None:
    device = {"name": "d0", "attributes": {"model": {"string": "secret-card"}}}
    slices = {"kind": "ResourceSlice", "spec": {"driver": "gpu.nvidia.com", "devices": [device]}}
    text = 'device.attributes["gpu.nvidia.com"].model == "secret-card"'
    claim = {"kind": "DeviceClass", "spec": {"selectors": [{"cel": {"expression": text}}]}}

    new_slice, new_class = other(slices, claim)

    word = new_slice["spec"]["devices"][0]["attributes"]["model"]["string"]
    assert word != "secret-card"
    assert new_class["spec"]["selectors"][0]["cel"]["expression"] == (
        f'device.attributes["gpu.nvidia.com"].model == "{word}"'
    )


def test_expressions_keep_their_code_and_lose_comments() -> None:
    text = """device.driver.matches('acme\\'s "own"') // as acme says\n&& true"""
    claim = {"kind": "DeviceClass", "spec": {"selectors": [{"cel": {"expression": text}}]}}

    (changed,) = other(claim)

    expression = changed["spec"]["selectors"][0]["cel"]["expression"]
    assert re.fullmatch(r"device\.driver\.matches\('x-\w+'\) \n&& true", expression)


def test_texts_for_people_and_whatever_decides_nothing_is_left_out() -> None:
    pod = {
        "kind": "Pod",
        "spec": {"serviceAccountName": "alice", "containers": [{"env": [{"name": "ALICE"}]}]},
        "status": {"conditions": [{"type": "Ready", "message": "alice"}]},
    }

    (changed,) = other(pod)

    assert "alice" not in json.dumps(changed).lower()
    assert changed["status"]["conditions"] == [{"type": "Ready"}]


def test_configurations_in_a_config_map_are_renamed_inside() -> None:
    text = "nvidia: {resourceCountName: acme.com/gpu}\n---\nkind: KubeSchedulerConfiguration\n"
    config = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"acme.yaml": text}}
    broken = {"kind": "ConfigMap", "data": {"device-config.yaml": "acme: ["}}

    changed, hidden = other(config, broken)

    (inside,) = changed["data"].values()
    first, second = (json.loads(each) for each in inside.split("\n---\n"))
    assert first["nvidia"]["resourceCountName"].startswith("d-")
    assert second == {"kind": "KubeSchedulerConfiguration"}
    assert "acme" not in json.dumps([changed, hidden])


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the texts of an object stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        if isinstance(each, str):
            yield (*path, key)
        elif isinstance(each, dict | list):
            yield from leaves(each, (*path, key))


def put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    changed = part = copy.deepcopy(value)
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = text
    return changed


# What stays whatever it is: versions of the API and of programs, what makers call devices, and
# the code of expressions.
OPEN = {
    "apiVersion", "architecture", "kubeletVersion", "operatingSystem", "vendor", "type", "mode",
    "expression",
}  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
@pytest.mark.parametrize("word", ["acme-corp", "acme.com/corp"])
def test_a_strangers_word_is_told_nowhere(folder: Path, word: str) -> None:
    objects = found(files.read([str(folder)], stdin=io.BytesIO())).objects

    told = [
        (each.get("kind"), path)
        for each in objects
        for path in leaves(each)
        if path[-1] not in OPEN and "acme" in json.dumps(other(put(each, path, word)))
    ]

    assert told == []


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "Pod", "metadata": "acme"},
        {"kind": "Pod", "metadata": {"name": 7, "labels": "acme", "annotations": {"hami.io/x": 1}}},
        {"kind": "Node", "metadata": {"labels": {"team": {"acme": 1}}}, "spec": "acme"},
        {"kind": "NodeGroups", "groups": ["acme", {"providerIdPattern": "("}]},
        {"kind": "ConfigMap", "data": "acme"},
    ],
)
def test_broken_objects_are_handled_too(broken: Any) -> None:
    (changed,) = other(broken)

    assert changed["kind"] == broken["kind"]


def test_a_quota_limits_the_same_resource_as_pods_ask_for() -> None:
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "team"},
        "spec": {
            "hard": {
                "limits.corp.example/mem": "5",
                "limits.nvidia.com/gpumem": "6",
                "limits.cpu": "1",
            }
        },
    }
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"corp.example/mem": "1"}}}]},
    }

    new_quota, new_pod = other(quota, pod)

    (asked,) = new_pod["spec"]["containers"][0]["resources"]["limits"]
    assert asked != "corp.example/mem"
    assert new_quota["spec"]["hard"] == {
        f"limits.{asked}": "5",
        "limits.nvidia.com/gpumem": "6",
        "limits.cpu": "1",
    }
    assert new_quota["metadata"]["namespace"] == new_pod["metadata"]["namespace"]

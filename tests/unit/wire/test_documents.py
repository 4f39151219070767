"""Whole sources: what is found, what is left out, and what is refused."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from springtide.wire.documents import Input, decode
from springtide.wire.errors import DocumentFault, InvalidDocument, MalformedDocument
from springtide.wire.source import Source

NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}}
POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "uid": "u"}}
SCHEDULER = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: hami-scheduler}]
extenders:
- urlPrefix: x
  managedResources:
  - {name: nvidia.com/gpu, ignoredByScheduler: true}
  - {name: nvidia.com/other}
"""
DEVICE_CONFIG = "nvidia: {resourceCountName: nvidia.com/gpu}\nhygon: {}\n"


def read(*texts: str | bytes, name: str = "in") -> Input:
    return decode([Source(name, t if isinstance(t, bytes) else t.encode()) for t in texts])


def listed(*items: dict[str, Any], kind: str = "List", **fields: Any) -> str:
    return json.dumps({"apiVersion": "v1", "items": list(items), "kind": kind, **fields})


def fault(text: str | bytes, name: str = "in") -> DocumentFault:
    with pytest.raises(DocumentFault) as caught:
        read(text, name=name)
    return caught.value


def config_map(**data: str) -> str:
    return json.dumps(
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": data}
    )


def test_a_list_of_nodes_and_pods_is_read() -> None:
    found = read(listed(NODE, POD))

    assert [node.name for node in found.nodes] == ["n1"]
    assert [pod.key for pod in found.pods] == ["default/p"]
    assert found.counts == {"Node": 1, "Pod": 1}
    assert found.problems == ()


def test_the_items_of_a_typed_list_carry_no_kind() -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]

    assert [node.name for node in read(listed(*items, kind="NodeList")).nodes] == ["a", "b"]


def test_a_single_object_is_read() -> None:
    assert [pod.name for pod in read(json.dumps(POD)).pods] == ["p"]


@pytest.mark.parametrize("items", ["null", "[]"])
def test_a_list_may_be_empty(items: str) -> None:
    assert read(f'{{"kind": "PodList", "apiVersion": "v1", "items": {items}}}').counts == {}


def test_other_kinds_are_counted_and_ignored() -> None:
    found = read(listed(NODE, {"kind": "Endpoints", "apiVersion": "v1", "spec": {"ports": []}}))

    assert found.counts == {"Endpoints": 1, "Node": 1}
    assert found.ignored == {"Endpoints": 1}


def test_several_json_texts_may_follow_each_other() -> None:
    text = json.dumps(NODE) + json.dumps(POD) + "\n---\n" + json.dumps({**POD, "kind": "Service"})

    assert read(text).counts == {"Node": 1, "Pod": 1, "Service": 1}


def test_yaml_may_follow_json() -> None:
    text = json.dumps(NODE) + "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: q, uid: u}\n"

    assert [pod.name for pod in read(text).pods] == ["q"]


def test_a_list_in_yaml_is_read_like_one_in_json() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- {kind: Node, apiVersion: v1, metadata: {name: n1}}"
    )

    assert [node.name for node in read(text).nodes] == ["n1"]


def test_a_yaml_file_may_start_like_json() -> None:
    text = "{apiVersion: v1, kind: Node, metadata: {name: n1}}"

    assert [node.name for node in read(text, name="a.yaml").nodes] == ["n1"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_marks_and_encodings_of_other_shells_do_not_hurt(encoding: str) -> None:
    assert [node.name for node in read(json.dumps(NODE).encode(encoding)).nodes] == ["n1"]


def test_a_broken_object_does_not_take_the_others_down() -> None:
    broken = {**POD, "metadata": {"name": "q", "uid": "v"}, "spec": {"containers": [5]}}

    found = read(listed(NODE, broken, POD))

    assert [pod.name for pod in found.pods] == ["p"]
    (problem,) = found.problems
    assert problem.text == (
        "in: Pod/default/q, spec.containers[0]: this is a whole number where a map belongs; "
        "correct it. The object is left out."
    )


def test_a_broken_object_without_a_name_is_named_by_its_place() -> None:
    found = read(listed(NODE, {"kind": "Pod", "apiVersion": "v1", "metadata": {}}))

    assert found.problems[0].object == "Pod at items[1]"
    assert found.problems[0].field == "metadata.name"


def test_an_object_of_the_wrong_shape_is_named_by_its_place() -> None:
    found = read(listed(NODE, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": {}}}))

    assert found.problems[0].object == "Pod at items[1]"
    assert found.problems[0].field == "metadata.name"


def test_an_item_without_a_kind_is_a_problem() -> None:
    found = read(listed(NODE, {"metadata": {"name": "x"}}))

    assert found.problems[0].object == "items[1]"
    assert found.problems[0].field == "kind"


def test_of_two_objects_with_one_name_the_first_counts() -> None:
    found = read(listed({**POD, "spec": {"nodeName": "a"}}), listed({**POD, "spec": {}}))

    assert [pod.node_name for pod in found.pods] == ["a"]
    assert found.problems[0].object == "Pod/default/p"
    assert "given twice" in found.problems[0].message


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ('{"kind": "List", "items": [{"kind": "No', 39, "the end of a text"),
        ('{"kind": "List", "items": [', 27, "a value"),
        ('{"kind": "List", "items": [{}', 29, "a comma or a closing bracket"),
        ('{"kind": "List"', 15, "a comma or a closing brace"),
        ('{"kind": "List",', 16, "the name of a field"),
        ('{"kind"', 7, "a colon"),
    ],
)
def test_json_that_breaks_off_says_where_and_what_was_expected(
    text: str, offset: int, expected: str
) -> None:
    found = fault(text)

    assert isinstance(found, MalformedDocument)
    assert f"the JSON breaks off at byte {offset}, where {expected} was expected." in str(found)


def test_malformed_json_says_where() -> None:
    found = fault('{"kind": "List",\n "items": [}')

    assert str(found).startswith("in, line 2: this is not JSON at byte 28: ")


def test_text_that_is_not_utf8_says_where() -> None:
    found = fault(b'{"kind": "Node", "metadata": {"name": "\xff"}}')

    assert "this is not JSON at byte 39: Invalid UTF-8 encoded string." in str(found)


def test_what_follows_a_complete_json_text_must_be_a_document() -> None:
    assert "this is not JSON at byte 16: trailing characters." in str(fault('{"kind": "List"}}'))


def test_json_that_is_nested_without_end_is_malformed() -> None:
    found = fault('{"items":' + "[" * 100_000)

    assert isinstance(found, MalformedDocument)
    assert "nested too deeply" in str(found)


@pytest.mark.parametrize("text", ["a: 1\n", '{"a": 1}'])
def test_a_document_without_a_kind_is_refused(text: str) -> None:
    found = fault(text)

    assert isinstance(found, InvalidDocument)
    assert found.reason == "there is no kind; add apiVersion and kind."


@pytest.mark.parametrize("text", ["hello", "- a\n", "[1]", "kind: 5\n"])
def test_a_document_that_is_no_object_is_refused(text: str) -> None:
    assert isinstance(fault(text), InvalidDocument)


def test_a_problem_in_a_yaml_stream_names_the_line_of_its_document() -> None:
    text = "kind: Node\napiVersion: v1\nmetadata: {name: a}\n---\nkind: Node\napiVersion: v1\n"

    assert read(text, name="nodes.yaml").problems[0].source == "nodes.yaml:5"


def ignored(found: Input) -> tuple[str, ...]:
    assert found.scheduler is not None
    return found.scheduler.configuration.ignored_by_scheduler


def test_the_scheduler_configuration_gives_the_managed_resources() -> None:
    assert ignored(read(SCHEDULER)) == ("nvidia.com/gpu",)
    assert read(listed(NODE)).scheduler is None


def test_configurations_are_found_in_config_maps() -> None:
    found = read(
        config_map(**{"config.yaml": SCHEDULER}),
        config_map(**{"device-config.yaml": DEVICE_CONFIG}),
    )

    assert ignored(found) == ("nvidia.com/gpu",)
    assert found.device_config == {"nvidia": {"resourceCountName": "nvidia.com/gpu"}, "hygon": {}}
    assert found.ignored == {}


def test_other_config_maps_are_ignored() -> None:
    assert read(config_map(**{"a.txt": "x"})).ignored == {"ConfigMap": 1}


def test_a_config_map_whose_entry_is_no_yaml_is_a_problem() -> None:
    found = read(config_map(**{"device-config.yaml": "a: [1"}))

    assert found.device_config is None
    assert found.problems[0].object == "ConfigMap/default/c"
    assert found.problems[0].field == 'data["device-config.yaml"]'


def test_config_map_entries_that_are_something_else_are_ignored() -> None:
    entries = {"device-config.yaml": "- a\n---\nkind: Foo\n"}

    assert read(config_map(**entries)).ignored == {"ConfigMap": 1}


def test_a_group_with_a_list_of_items_that_is_no_list_is_ignored() -> None:
    found = read('{"kind": "Foo", "apiVersion": "x/v1", "items": []}')

    assert found.ignored == {"Foo": 1}


def test_the_bare_device_configuration_is_recognised() -> None:
    assert read(DEVICE_CONFIG).device_config == {
        "nvidia": {"resourceCountName": "nvidia.com/gpu"},
        "hygon": {},
    }


def test_of_two_scheduler_configurations_the_first_counts() -> None:
    other = SCHEDULER.replace("nvidia.com/gpu,", "example.com/a,")

    found = read(SCHEDULER, SCHEDULER, other)

    assert ignored(found) == ("nvidia.com/gpu",)
    assert [(each.object, each.source) for each in found.problems] == [
        ("KubeSchedulerConfiguration", "in:2")
    ]
    assert "the first one counts" in found.problems[0].message


def test_a_fault_of_the_scheduler_configuration_is_told_in_its_words_at_its_line() -> None:
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

    unknown = fault(text + "profiles:\n- schedulerName: a\n  plugin: {}\n")
    wrong = fault(text + "parallelism: 0\npercentageOfNodesToScore: 101\n")

    assert str(unknown) == (
        "in, line 5: profiles[0].plugin: kube-scheduler refuses this: "
        'strict decoding error: unknown field "profiles[0].plugin"'
    )
    assert str(wrong) == (
        "in, line 3: parallelism: kube-scheduler refuses this: Invalid value: 0: should be an "
        "integer value greater than zero; percentageOfNodesToScore: Invalid value: 101: not in "
        "valid range [0-100]"
    )


def test_a_device_configuration_without_nvidia_is_recognised() -> None:
    assert read("vnpus:\n  configs: []\n").device_config == {"vnpus": {"configs": []}}


def test_of_two_device_configurations_the_first_counts() -> None:
    found = read(DEVICE_CONFIG, DEVICE_CONFIG, "nvidia: {}\n")

    assert found.device_config is not None
    assert "hygon" in found.device_config
    assert len(found.problems) == 1


def test_the_same_input_in_yaml_and_json_is_equal() -> None:
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"
    same = {**NODE, "metadata": {"name": "n1", "labels": {"a": "b"}}}

    assert read(text).nodes == read(json.dumps(same)).nodes


def test_keeping_objects_as_they_were_written_changes_nothing_else() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "other": [1]}
    unbound = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "uid": "u"}}
    bound = {**unbound, "metadata": {"name": "q"}, "spec": {"nodeName": "n"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never"}}
    job = {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {"name": "j"},
        "spec": {"parallelism": 2, "template": template},
    }
    broken = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": 1}}
    text = listed(node, unbound, bound, job, broken, {"kind": "Secret", "apiVersion": "v1"})

    kept = decode([Source("in", text.encode())], keeps_raws=True)

    assert replace(kept, raws={}) == read(text)
    assert {name: json.loads(bytes(raw)) for name, raw in kept.raws.items()} == {
        "Node/n": node,
        "Pod/default/p": unbound,
        "Job/default/j": job,
        "Pod/default/j-0": template,
        "Pod/default/j-1": template,
    }

"""Pod groups of three APIs, and how pods name them."""

import json
from typing import Any

import pytest

from springtide.model.gang import GangApi, PodGroup
from springtide.model.pod import GangLink
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source

Json = dict[str, Any]


def read(*objects: Json) -> Input:
    listed = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def thing(kind: str, version: str, spec: Json, *, name: str = "train") -> Json:
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def pod(spec: Json | None = None, **metadata: Any) -> Json:
    made = {"name": "p", "namespace": "team", "uid": "u", **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": spec or {}}


def gang(count: object) -> Json:
    return {"schedulingPolicy": {"gang": {"minCount": count}}}


VOLCANO = "scheduling.volcano.sh/v1beta1"
COSCHEDULING = "scheduling.x-k8s.io/v1alpha1"


@pytest.mark.parametrize(
    ("version", "spec", "api", "minimum"),
    [
        (COSCHEDULING, {"minMember": 4}, GangApi.COSCHEDULING, 4),
        (COSCHEDULING, {}, GangApi.COSCHEDULING, None),
        (VOLCANO, {"minMember": 4, "minResources": {"cpu": "3"}}, GangApi.VOLCANO, 4),
        ("scheduling.k8s.io/v1alpha2", gang(4), GangApi.WORKLOAD, 4),
        ("scheduling.k8s.io/v1beta1", gang(4), GangApi.WORKLOAD, 4),
        ("scheduling.k8s.io/v1beta1", {"schedulingPolicy": {"basic": {}}}, GangApi.WORKLOAD, None),
    ],
)
def test_each_api_says_the_minimum_in_its_own_field(
    version: str, spec: Json, api: GangApi, minimum: int | None
) -> None:
    found = read(thing("PodGroup", version, spec))

    assert found.pod_groups == (PodGroup(api=api, namespace="team", name="train", minimum=minimum),)
    assert found.counts == {"PodGroup": 1}


def test_volcano_has_minimums_of_tasks_as_well() -> None:
    spec = {"minMember": 3, "minTaskMember": {"worker": 2, "master": 1, "other": 0}}

    (group,) = read(thing("PodGroup", VOLCANO, spec)).pod_groups

    assert group.task_minimums == (("master", 1), ("worker", 2))


def test_a_workload_has_its_groups_inside() -> None:
    spec = {
        "podGroups": [
            {"name": "workers", "policy": {"gang": {"minCount": 4}}},
            {"name": "driver", "policy": {"basic": {}}},
        ]
    }

    found = read(thing("Workload", "scheduling.k8s.io/v1alpha1", spec))

    assert [(each.name, each.minimum) for each in found.pod_groups] == [
        ("train/workers", 4),
        ("train/driver", None),
    ]


def test_a_workload_of_templates_has_no_groups() -> None:
    spec = {"podGroupTemplates": [{"name": "workers", **gang(4)}]}

    found = read(thing("Workload", "scheduling.k8s.io/v1beta1", spec))

    assert found.pod_groups == ()
    assert found.problems == ()


def test_groups_of_another_api_are_ignored() -> None:
    found = read(thing("PodGroup", "example.com/v1", {"minMember": 4}))

    assert found.pod_groups == ()
    assert found.ignored == {"PodGroup": 1}


def test_items_may_leave_their_version_to_the_list() -> None:
    item = {"metadata": {"name": "train", "namespace": "team"}, "spec": {"minMember": 4}}
    listed = {"apiVersion": VOLCANO, "kind": "PodGroupList", "items": [item]}

    found = decode([Source("in.json", json.dumps(listed).encode())])

    assert [(each.api, each.minimum) for each in found.pod_groups] == [(GangApi.VOLCANO, 4)]


def test_groups_of_one_name_in_two_apis_are_two() -> None:
    found = read(
        thing("PodGroup", VOLCANO, {"minMember": 4}),
        thing("PodGroup", COSCHEDULING, {"minMember": 3}),
    )

    assert [each.minimum for each in found.pod_groups] == [4, 3]
    assert found.problems == ()


def test_of_a_group_given_twice_the_first_counts() -> None:
    found = read(*(thing("PodGroup", VOLCANO, {"minMember": count}) for count in (4, 3)))

    assert [each.minimum for each in found.pod_groups] == [4]
    assert "given twice" in found.problems[0].message


@pytest.mark.parametrize(
    ("version", "spec", "unread"),
    [
        (VOLCANO, {"networkTopology": {"mode": "hard"}}, ("spec.networkTopology",)),
        (VOLCANO, {"networkTopology": {"mode": "soft"}}, ()),
        (VOLCANO, {"subGroupPolicy": [{"name": "a"}]}, ("spec.subGroupPolicy",)),
        (
            "scheduling.k8s.io/v1alpha3",
            {
                **gang(1),
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
                "parentCompositePodGroupName": "all",
            },
            ("spec.schedulingConstraints", "spec.parentCompositePodGroupName"),
        ),
    ],
)
def test_what_is_not_looked_at_is_named(version: str, spec: Json, unread: tuple[str, ...]) -> None:
    (group,) = read(thing("PodGroup", version, spec)).pod_groups

    assert group.unread == unread


@pytest.mark.parametrize(
    ("version", "spec", "field"),
    [
        (COSCHEDULING, {"minMember": -1}, "spec.minMember"),
        (COSCHEDULING, {"minMember": "four"}, "spec.minMember"),
        (VOLCANO, {"minTaskMember": {"worker": -2}}, 'spec.minTaskMember["worker"]'),
        ("scheduling.k8s.io/v1beta1", gang(0), "spec.schedulingPolicy.gang.minCount"),
        ("scheduling.k8s.io/v1beta1", gang(None), "spec.schedulingPolicy.gang.minCount"),
        ("scheduling.k8s.io/v1beta1", {}, "spec.schedulingPolicy"),
        (
            "scheduling.k8s.io/v1beta1",
            {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 1}}},
            "spec.schedulingPolicy",
        ),
    ],
)
def test_a_malformed_group_is_left_out_with_its_field(version: str, spec: Json, field: str) -> None:
    good = thing("PodGroup", VOLCANO, {"minMember": 2}, name="good")

    found = read(thing("PodGroup", version, spec), good)

    assert [each.name for each in found.pod_groups] == ["good"]
    (problem,) = found.problems
    assert (problem.object, problem.field) == ("PodGroup/team/train", field)
    assert problem.message.endswith("The object is left out.")


@pytest.mark.parametrize(
    ("groups", "field"),
    [
        ([{"policy": {"gang": {"minCount": 1}}}], "spec.podGroups[0].name"),
        ([{"name": "a", "policy": {"gang": {"minCount": 0}}}], "spec.podGroups[0].policy.gang"),
    ],
)
def test_a_malformed_workload_is_left_out_with_its_field(groups: list[Json], field: str) -> None:
    found = read(thing("Workload", "scheduling.k8s.io/v1alpha1", {"podGroups": groups}))

    assert found.pod_groups == ()
    assert found.problems[0].field.startswith(field)


def test_a_group_without_a_name_or_a_version_is_left_out() -> None:
    nameless = thing("PodGroup", VOLCANO, {}, name="")
    unversioned = thing("PodGroup", "", {})
    del unversioned["apiVersion"]

    found = read(nameless, unversioned)

    assert found.pod_groups == ()
    assert {each.field for each in found.problems} == {"metadata.name", "apiVersion"}


def links(read_pod: Json) -> tuple[GangLink, ...]:
    return read(read_pod).pods[0].gang_links


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            pod({"schedulingGroup": {"podGroupName": "train"}}),
            GangLink(api=GangApi.WORKLOAD, name="train"),
        ),
        (
            pod(
                {
                    "workloadRef": {
                        "name": "train",
                        "podGroup": "workers",
                        "podGroupReplicaKey": "1",
                    }
                }
            ),
            GangLink(api=GangApi.WORKLOAD, name="train/workers", replica="1"),
        ),
        (
            pod(labels={"scheduling.x-k8s.io/pod-group": "train"}),
            GangLink(api=GangApi.COSCHEDULING, name="train"),
        ),
        (
            pod(labels={"pod-group.scheduling.sigs.k8s.io": "train"}),
            GangLink(api=GangApi.COSCHEDULING, name="train"),
        ),
        (
            pod(
                annotations={
                    "scheduling.k8s.io/group-name": "train",
                    "volcano.sh/task-spec": "worker",
                }
            ),
            GangLink(api=GangApi.VOLCANO, name="train", task="worker"),
        ),
        (
            pod(
                annotations={"scheduling.volcano.sh/group-name": "train"},
                labels={"volcano.sh/task-spec": "worker"},
            ),
            GangLink(api=GangApi.VOLCANO, name="train", task="worker"),
        ),
        (
            pod(
                annotations={"scheduling.volcano.sh/group-min-member": "3"},
                ownerReferences=[{"kind": "Job", "name": "j", "uid": "7", "controller": True}],
            ),
            GangLink(api=GangApi.VOLCANO, name="podgroup-7", minimum="3"),
        ),
        (
            pod(annotations={"springtide.io/gang": "train", "springtide.io/gang-min-size": "3"}),
            GangLink(api=GangApi.ANNOTATION, name="train", minimum="3"),
        ),
    ],
)
def test_a_pod_names_its_gang_in_the_way_of_each_api(given: Json, expected: GangLink) -> None:
    assert links(given) == (expected,)


@pytest.mark.parametrize(
    "given",
    [
        pod(),
        pod(labels={"app": "a"}),
        pod(labels={"scheduling.x-k8s.io/pod-group": ""}),
        pod(annotations={"scheduling.volcano.sh/group-min-member": "3"}),
        pod({"workloadRef": {"podGroup": "workers"}}),
        pod({"schedulingGroup": {}}),
    ],
)
def test_most_pods_name_none(given: Json) -> None:
    assert links(given) == ()


def test_pods_of_a_manifest_carry_what_its_template_names() -> None:
    template = {"metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "train"}}, "spec": {}}
    spec = {"parallelism": 2, "template": template}

    found = read(thing("Job", "batch/v1", spec))

    expected = (GangLink(api=GangApi.COSCHEDULING, name="train"),)
    assert [each.gang_links for each in found.manifests] == [expected, expected]

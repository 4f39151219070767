"""Pods are judged by the profile of the scheduler that they name."""

import json
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.wire.documents import decode
from springtide.wire.errors import InvalidDocument
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
GROUPS = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "NodeGroups",
    "groups": [
        {
            "name": "plain",
            "maxSize": 5,
            "template": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
        }
    ],
}


def pod(name: str, scheduler: str, requests: dict[str, str], *, port: int = 0) -> dict[str, Any]:
    ports = [{"containerPort": port, "hostPort": port}] if port else []
    container = {"name": "c", "resources": {"requests": requests}, "ports": ports}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "n", "uid": name},
        "spec": {"schedulerName": scheduler, "containers": [container]},
        "status": {"phase": "Pending"},
    }


def planned(*pods: dict[str, Any], **configuration: Any) -> PlanReport:
    documents = [GROUPS, *pods, {**HEADER, **configuration}]
    sources = [Source(f"in-{n}", json.dumps(each).encode()) for n, each in enumerate(documents)]
    return run(decode(sources), Request(), clock=FixedClock(), rng=FirstRng())


def stuck(report: PlanReport) -> dict[str, str]:
    return {name: each.groups[0].reason for each in report.stuck for name in each.pods}


def fit(**args: Any) -> list[dict[str, Any]]:
    return [{"name": "NodeResourcesFit", "args": args}]


def test_equal_pods_of_two_profiles_are_judged_each_by_its_own() -> None:
    wants = {"example.com/a": "1"}
    ignoring = {"schedulerName": "free", "pluginConfig": fit(ignoredResources=["example.com/a"])}

    report = planned(
        pod("p", "free", wants),
        pod("q", "strict", wants),
        profiles=[ignoring, {"schedulerName": "strict"}],
    )

    assert stuck(report) == {"n/q": "Insufficient example.com/a"}
    assert report.groups[0].size_after == 1


def test_a_group_of_resources_may_be_ignored() -> None:
    ignoring = {"schedulerName": "free", "pluginConfig": fit(ignoredResourceGroups=["example.com"])}

    report = planned(pod("p", "free", {"example.com/a": "1"}), profiles=[ignoring])

    assert report.is_satisfied


def test_affinity_that_a_profile_adds_is_required_of_its_pods_alone() -> None:
    expression = {"key": "pool", "operator": "In", "values": ["batch"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    added = {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    batch = {"schedulerName": "batch", "pluginConfig": [{"name": "NodeAffinity", "args": added}]}

    report = planned(
        pod("p", "batch", {"cpu": "1"}),
        pod("q", "other", {"cpu": "1"}),
        profiles=[batch, {"schedulerName": "other"}],
    )

    assert stuck(report) == {"n/p": "node(s) didn't match scheduler-enforced node affinity"}


@pytest.mark.parametrize(("rule", "nodes"), [("NodePorts", 1), ("NodeName", 3)])
def test_a_disabled_rule_does_not_part_pods(rule: str, nodes: int) -> None:
    point = {"disabled": [{"name": rule}]}
    profile = {"schedulerName": "a", "plugins": {"multiPoint": point}}

    report = planned(
        *(pod(f"p{n}", "a", {"cpu": "1"}, port=80) for n in range(3)), profiles=[profile]
    )

    assert report.groups[0].size_after == nodes


def test_without_the_resource_rule_one_node_takes_everything() -> None:
    point = {"disabled": [{"name": "NodeResourcesFit"}]}
    profile = {"schedulerName": "a", "plugins": {"multiPoint": point}}

    report = planned(*(pod(f"p{n}", "a", {"cpu": "3"}) for n in range(20)), profiles=[profile])

    assert report.groups[0].size_after == 1
    assert report.is_satisfied


def spreading(*, hard: bool = True) -> list[dict[str, Any]]:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    constraint = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": when}
    args = {"defaultingType": "List", "defaultConstraints": [constraint]}
    return [
        {"schedulerName": "a", "pluginConfig": [{"name": "PodTopologySpread", "args": args}]},
        {"schedulerName": "b"},
    ]


def selected(name: str, scheduler: str) -> dict[str, Any]:
    made = pod(name, scheduler, {"cpu": "2"})
    metadata = {**made["metadata"], "labels": {"app": "web"}}
    return {**made, "metadata": metadata}


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "n"},
    "spec": {"selector": {"app": "web"}},
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "old", "labels": {"kubernetes.io/hostname": "old"}},
    "status": {
        "capacity": {"cpu": "64", "memory": "64Gi", "pods": "110"},
        "allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


@pytest.mark.parametrize(
    ("scheduler", "hard", "others", "fitting"),
    [
        ("a", True, [SERVICE], 1),
        ("a", False, [SERVICE], 6),
        ("a", True, [], 6),
        ("b", True, [SERVICE], 6),
    ],
    ids=["spread", "only preferred", "selected by nothing", "another profile"],
)
def test_pods_without_constraints_are_spread_as_their_profile_says(
    scheduler: str,
    hard: bool,  # noqa: FBT001 - a case
    others: list[dict[str, Any]],
    fitting: int,
) -> None:
    # A node that takes none of the pods: no other one may have more than one.
    full = {**NODE, "metadata": {"name": "full", "labels": {"kubernetes.io/hostname": "full"}}}
    pods = [selected(f"p{n}", scheduler) for n in range(6)]
    held = pod("held", "b", {"cpu": "64"})
    held["spec"]["nodeName"] = "full"

    report = planned(*pods, held, NODE, full, *others, profiles=spreading(hard=hard))

    assert len(report.fitting) == fitting
    assert report.is_satisfied


def test_default_constraints_without_services_and_controllers_are_told() -> None:
    report = planned(selected("p", "a"), profiles=spreading())

    (note,) = report.input.notes
    assert note.startswith("The scheduler spreads pods by default that a service")


def test_pods_of_a_scheduler_without_a_profile_are_told() -> None:
    report = planned(
        pod("p", "a", {"cpu": "1"}),
        pod("q", "b", {"cpu": "1"}),
        pod("r", "b", {"cpu": "1"}),
        profiles=[{"schedulerName": "a"}],
    )

    assert report.is_satisfied
    assert report.input.notes == (
        (
            '2 pods name the scheduler "b", which has no profile in the scheduler configuration; '
            "they are judged by the default rules."
        ),
    )


def test_ignored_resources_that_extenders_replace_are_told() -> None:
    managed = [{"name": "example.com/b", "ignoredByScheduler": True}]
    profile = {"schedulerName": "a", "pluginConfig": fit(ignoredResources=["example.com/a"])}

    report = planned(
        pod("p", "a", {"example.com/a": "1"}),
        profiles=[profile],
        extenders=[{"urlPrefix": "x", "managedResources": managed}],
    )

    (problem,) = report.problems
    assert stuck(report) == {"n/p": "Insufficient example.com/a"}
    assert (problem.object, problem.field) == (
        "KubeSchedulerConfiguration",
        "profiles[0].pluginConfig",
    )
    assert "example.com/a" in problem.message


def test_a_configuration_with_which_no_scheduler_starts_is_a_fault_of_the_input() -> None:
    enabled = {"filter": {"enabled": [{"name": "NodePort"}]}}

    with pytest.raises(InvalidDocument) as caught:
        planned(profiles=[{"schedulerName": "a", "plugins": enabled}])

    assert str(caught.value) == (
        "in-1: profiles[0].plugins.filter.enabled[0]: kube-scheduler does not start with this: "
        "initializing profiles: creating profile for scheduler name a: "
        'FilterPlugin "NodePort" does not exist'
    )


# What keeps devices' resources from their extender


DEVICES = "nvidia.com/gpucores"


def managing(*names: str, ignored: bool = True) -> list[dict[str, Any]]:
    managed = [{"name": name, "ignoredByScheduler": ignored} for name in names]
    return [{"urlPrefix": "x", "managedResources": managed}]


def remedies(*documents: dict[str, Any], extenders: list[dict[str, Any]]) -> list[str]:
    wants = {"cpu": "1", DEVICES: "30", "nvidia.com/gpumem-percentage": "10"}
    report = planned(
        pod("p", "a", wants),
        *documents,
        profiles=[{"schedulerName": "a"}],
        extenders=extenders,
    )
    assert [item.closest is None for item in report.stuck] == [
        bool(item.remedy) for item in report.stuck
    ]
    return [item.remedy for item in report.stuck]


def test_all_names_that_no_extender_manages_are_told_together() -> None:
    (remedy,) = remedies(extenders=managing("nvidia.com/gpu"))

    assert remedy == (
        "The scheduler's configuration is in the way, not a lack of nodes: no node has "
        f"{DEVICES} and nvidia.com/gpumem-percentage, and no extender manages them in the "
        "scheduler's place. Add them to managedResources of the extender, with "
        "ignoredByScheduler: true."
    )


def test_a_name_that_the_scheduler_looks_for_all_the_same_is_told() -> None:
    both = [*managing(DEVICES, ignored=False), *managing("nvidia.com/gpumem-percentage")]

    (remedy,) = remedies(extenders=both)

    assert remedy.endswith(
        f"no node has {DEVICES}, and the scheduler looks for it all the same. "
        "Set ignoredByScheduler: true for it in managedResources of the extender."
    )


def test_a_name_that_nodes_have_is_no_fault_of_the_configuration() -> None:
    amounts = {"cpu": "0", "pods": "9", DEVICES: "100", "nvidia.com/gpumem-percentage": "100"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }

    assert remedies(node, extenders=managing("nvidia.com/gpu")) == [""]


def test_a_gang_is_told_what_to_change_as_well() -> None:
    member = pod("p", "a", {"cpu": "1", DEVICES: "30"})
    member["metadata"]["annotations"] = {"springtide.io/gang": "train"}

    report = planned(
        member, profiles=[{"schedulerName": "a"}], extenders=managing("nvidia.com/gpu")
    )

    (gang,) = report.gangs
    assert gang.why.startswith("short by 1. The scheduler's configuration is in the way")
    assert gang.why.endswith(gang.remedy)
    assert gang.closest is None

"""Pod objects as model records."""

import json
from typing import Any

import pytest

from springtide.base import quantity
from springtide.base.selectors import (
    LabelSelectorRequirement,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    label_selector,
)
from springtide.base.taints import Toleration
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.pod import ContainerResize, HostPort, Owner, Pod, Resize
from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, EphemeralVolume
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts, decode_pod

CPU_1 = (("cpu", quantity.parse("1")),)
CPU_2 = (("cpu", quantity.parse("2")),)


def pod(
    spec: dict[str, Any] | None = None,
    *,
    metadata: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    parts: Parts | None = None,
) -> Pod:
    read = {
        "metadata": {"name": "p", "uid": "u", **(metadata or {})},
        "spec": spec or {},
        "status": status or {},
    }
    return decode_pod(json.dumps(read).encode(), parts or Parts())


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", **fields}


def resized(**status: Any) -> Resize | None:
    spec = {"containers": [container(resources={"requests": {"cpu": "1"}})]}
    return pod(spec, status=status).resize


def fault(spec: dict[str, Any]) -> MalformedObject:
    with pytest.raises(MalformedObject) as caught:
        pod(spec)
    return caught.value


def test_a_pod_without_namespace_and_uid_gets_the_defaults() -> None:
    found = decode_pod(b'{"metadata":{"name":"p"}}', Parts())

    assert (found.namespace, found.uid, found.phase) == ("default", "default/p", "Pending")


def test_a_pod_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedObject) as caught:
        decode_pod(b'{"metadata":{}}', Parts())

    assert caught.value.field == "metadata.name"


def test_the_owner_is_the_reference_that_controls() -> None:
    references = [
        {"kind": "Foo", "name": "f", "uid": "1"},
        {"kind": "ReplicaSet", "name": "r", "uid": "2", "controller": True},
    ]

    found = pod(metadata={"ownerReferences": references})

    assert found.owner == Owner(kind="ReplicaSet", name="r", uid="2")


def test_a_pod_without_a_controller_has_no_owner() -> None:
    assert pod(metadata={"ownerReferences": [{"kind": "Foo", "name": "f"}]}).owner is None


def test_the_condition_tells_why_a_pod_is_not_scheduled() -> None:
    condition = {
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1",
    }  # fmt: skip

    found = pod(status={"conditions": [{"type": "Ready", "status": "False"}, condition]})

    assert (found.scheduled_reason, found.scheduled_message) == ("Unschedulable", "0/1")


def test_a_scheduled_pod_has_no_such_reason() -> None:
    condition = {"type": "PodScheduled", "status": "True", "reason": "x"}

    assert pod(status={"conditions": [condition]}).scheduled_reason == ""


def test_a_deletion_timestamp_means_terminating() -> None:
    assert pod(metadata={"deletionTimestamp": "2026-11-30T00:00:00Z"}).is_terminating


@pytest.mark.parametrize(
    ("deleted", "condition", "is_preempted"),
    [
        (True, {"status": "True", "reason": "PreemptionByScheduler"}, True),
        (True, {"status": "True", "reason": "EvictionByEvictionAPI"}, False),
        (True, {"status": "False", "reason": "PreemptionByScheduler"}, False),
        (False, {"status": "True", "reason": "PreemptionByScheduler"}, False),
    ],
    ids=["preempted", "evicted", "not any more", "not being deleted"],
)
def test_a_pod_that_goes_to_make_room_is_known_by_its_condition(
    deleted: bool,  # noqa: FBT001 - a column of the table
    condition: dict[str, str],
    is_preempted: bool,  # noqa: FBT001 - a column of the table
) -> None:
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleted else {}
    conditions = [{"type": "DisruptionTarget", **condition}]

    found = pod(metadata=metadata, status={"conditions": conditions})

    assert found.is_preempted is is_preempted


def test_what_preemption_reads_is_kept() -> None:
    spec = {"priority": 7, "preemptionPolicy": "Never"}
    status = {"startTime": "2026-01-01T00:00:00Z", "nominatedNodeName": "n0"}

    found = pod(spec, status=status)

    assert (found.spec.priority, found.spec.may_preempt) == (7, False)
    assert (found.started, found.nominated_node) == ("2026-01-01T00:00:00Z", "n0")
    assert pod({"preemptionPolicy": "PreemptLowerPriority"}).spec.may_preempt


@pytest.mark.parametrize(
    ("statuses", "is_done"),
    [
        ([], False),
        ([{"state": {"terminated": {"exitCode": 0}}}], True),
        ([{"state": {"terminated": {"exitCode": 1}}}], False),
        ([{"state": {"terminated": {"exitCode": 0}}}, {"state": {"running": {}}}], False),
    ],
)
def test_init_is_done_when_every_init_container_has_succeeded(
    statuses: list[dict[str, Any]], *, is_done: bool
) -> None:
    assert pod(status={"initContainerStatuses": statuses}).is_init_done is is_done


def test_a_stored_limit_without_a_request_asks_for_nothing() -> None:
    found = pod({"containers": [container(resources={"limits": {"cpu": "1"}})]})

    assert found.spec.containers[0].requests == ()
    assert found.spec.containers[0].limits == CPU_1


def test_quantities_may_be_numbers() -> None:
    found = pod({"containers": [container(resources={"requests": {"cpu": 1}})]})

    assert found.spec.containers[0].requests == CPU_1


def test_resources_are_sorted_by_name() -> None:
    requests = {"nvidia.com/gpu": "1", "cpu": "1", "memory": "1Gi"}

    found = pod({"containers": [container(resources={"requests": requests})]})

    names = [name for name, _ in found.spec.containers[0].requests]
    assert names == ["cpu", "memory", "nvidia.com/gpu"]


def test_only_init_containers_that_restart_are_sidecars() -> None:
    spec = {
        "initContainers": [container(restartPolicy="Always"), container()],
        "containers": [container(restartPolicy="Always")],
    }

    found = pod(spec).spec

    assert [each.is_sidecar for each in found.init_containers] == [True, False]
    assert not found.containers[0].is_sidecar


def test_host_ports_are_those_that_are_claimed_on_the_node() -> None:
    ports = [
        {"containerPort": 80},
        {"containerPort": 81, "hostPort": 8081},
        {"containerPort": 82, "hostPort": 8082, "hostIP": "10.0.0.1", "protocol": "UDP"},
    ]

    found = pod({"hostNetwork": True, "containers": [container(ports=ports)]})

    assert found.spec.containers[0].host_ports == (
        HostPort(port=8081),
        HostPort(port=8082, host_ip="10.0.0.1", protocol="UDP"),
    )


def test_no_required_affinity_differs_from_one_without_terms() -> None:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}}

    without, empty = pod({}), pod({"affinity": {"nodeAffinity": required}})

    assert without.spec.required_node_terms is None
    assert empty.spec.required_node_terms == ()


def test_required_terms_keep_expressions_and_fields() -> None:
    term = {
        "matchExpressions": [{"key": "gpu", "operator": "In", "values": ["on"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}

    found = pod({"affinity": {"nodeAffinity": required}}).spec.required_node_terms

    assert found == (
        NodeSelectorTerm(
            expressions=(NodeSelectorRequirement(key="gpu", operator="In", values=("on",)),),
            fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("n",)),),
        ),
    )


def test_tolerations_selector_gates_and_overhead_are_read() -> None:
    spec = {
        "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 300}],
        "nodeSelector": {"b": "2", "a": "1"},
        "schedulingGates": [{"name": "wait"}],
        "overhead": {"cpu": "1"},
        "schedulerName": "hami-scheduler",
        "priority": 7,
    }

    found = pod(spec).spec

    assert found.tolerations == (Toleration(key="k", operator="Exists"),)
    assert found.node_selector == (("a", "1"), ("b", "2"))
    assert found.scheduling_gates == ("wait",)
    assert found.overhead == CPU_1
    assert (found.scheduler_name, found.priority) == ("hami-scheduler", 7)


def test_equal_specs_are_one_object_whatever_is_the_pods_own() -> None:
    parts = Parts()
    spec = {"containers": [container(resources={"requests": {"cpu": "1"}})]}

    one = pod({**spec, "nodeName": "n1", "volumes": [{"name": "token-1"}]}, parts=parts)
    two = pod({**spec, "nodeName": "n2", "volumes": [{"name": "token-2"}]}, parts=parts)

    assert one.spec is two.spec
    assert (one.node_name, two.node_name) == ("n1", "n2")


def test_specs_that_are_equal_but_written_differently_are_one_object() -> None:
    parts = Parts()

    one = pod({"nodeSelector": {"a": "1", "b": "2"}}, parts=parts)
    two = pod({"nodeSelector": {"b": "2", "a": "1"}}, parts=parts)

    assert one.spec is two.spec


def test_null_fields_count_as_absent() -> None:
    spec = {
        "nodeSelector": None,
        "affinity": None,
        "hostNetwork": None,
        "containers": [
            container(ports=None, resources={"limits": None, "requests": {"cpu": None}})
        ],
        "tolerations": [{"key": "k", "value": None, "operator": "Exists"}],
    }

    found = pod(spec).spec

    assert found.tolerations == (Toleration(key="k", operator="Exists"),)
    assert found.containers[0].requests == ()


def test_a_malformed_quantity_is_named_with_its_path() -> None:
    resources = {"limits": {"memory": "1Gi", "cpu": "100x"}}

    found = fault({"containers": [container(), container(resources=resources)]})

    assert found.field == 'spec.containers[1].resources.limits["cpu"]'
    assert found.reason == '"100x" is not a quantity; write one like 500m or 16Gi.'


def test_a_quantity_of_the_wrong_type_is_named_with_its_path() -> None:
    resources = {"limits": {"memory": "1Gi", "cpu": ["1"]}}

    found = fault({"containers": [container(resources=resources)]})

    assert found.field == 'spec.containers[0].resources.limits["cpu"]'
    assert found.reason == "this is a list where a number or a text belongs; correct it."


def test_a_number_beyond_all_bounds_is_named() -> None:
    with pytest.raises(MalformedObject) as caught:
        decode_pod(b'{"metadata":{"name":"p"},"spec":{"overhead":{"cpu":1e400}}}', Parts())

    assert caught.value.field.startswith("spec.overhead")
    assert caught.value.reason == "number out of range; correct it."


def test_a_text_without_quotes_is_told_to_get_them() -> None:
    found = fault({"nodeName": 5})

    assert found.field == "spec.nodeName"
    assert found.reason == "this is a whole number where a text belongs; put it in quotes."


def test_a_missing_field_is_named() -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"operator": "In"}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    found = fault({"affinity": affinity})

    assert found.field.endswith(".nodeSelectorTerms[0].matchExpressions[0].key")
    assert found.reason == "this field is required and missing; add it."


def test_a_status_that_repeats_the_spec_is_no_resize() -> None:
    report = {
        "name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}},
    }  # fmt: skip

    assert resized(containerStatuses=[report]) is None


def test_a_status_that_differs_is_a_resize() -> None:
    report = {
        "name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "1"}},
    }  # fmt: skip

    assert resized(containerStatuses=[report]) == Resize(
        containers=(ContainerResize(name="main", allocated=CPU_2, actuated=CPU_1),)
    )


def test_a_status_without_requests_reports_nothing_actuated() -> None:
    report = {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {}}

    assert resized(containerStatuses=[report]) == Resize(
        containers=(ContainerResize(name="main", allocated=CPU_2),)
    )


def test_a_status_with_empty_requests_reports_none_of_them() -> None:
    found = resized(containerStatuses=[{"name": "main", "resources": {"requests": {}}}])

    assert found == Resize(containers=(ContainerResize(name="main", actuated=()),))


def test_the_pod_level_status_is_read() -> None:
    found = resized(allocatedResources={"cpu": "2"}, resources={"requests": {"cpu": "1"}})

    assert found == Resize(allocated=CPU_2, actuated=CPU_1)


def test_an_infeasible_resize_counts_even_where_the_status_repeats_the_spec() -> None:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    report = {"name": "main", "allocatedResources": {"cpu": "1"}}

    found = resized(conditions=[condition], containerStatuses=[report])

    assert found == Resize(
        containers=(ContainerResize(name="main", allocated=CPU_1),), is_infeasible=True
    )


def test_a_deferred_resize_is_not_infeasible() -> None:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}

    assert resized(conditions=[condition]) is None


def spread(**given: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [constraint | given]}


REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({}, ()),
        (spread(), ()),
        (spread(whenUnsatisfiable="ScheduleAnyway"), ("topologySpreadConstraints.preferred",)),
        ({"affinity": {"podAffinity": REQUIRED, "podAntiAffinity": REQUIRED}}, ()),
        ({"affinity": {"podAffinity": PREFERRED}}, ("affinity.preferred",)),
        ({"affinity": {"nodeAffinity": PREFERRED}}, ("affinity.preferred",)),
        ({"volumes": [{"persistentVolumeClaim": {}}]}, ("volumes.persistentVolumeClaim",)),
        ({"volumes": [{"persistentVolumeClaim": {"claimName": "c"}}, {"ephemeral": {}}]}, ()),
        ({"volumes": [{"emptyDir": {}}, {"projected": {}}]}, ()),
        ({"volumes": [{"csi": {"driver": "d"}}, {"rbd": {}}, {"iscsi": {}}]}, ()),
        ({"volumes": [{"azureDisk": {"diskName": "d"}}]}, ("volumes.disk",)),
        ({"volumes": [{"gcePersistentDisk": {"pdName": "d"}}]}, ("volumes.disk",)),
        ({"volumes": [{"awsElasticBlockStore": {"volumeID": "d"}}]}, ("volumes.disk",)),
    ],
)
def test_fields_of_other_rules_are_named(spec: dict[str, Any], fields: tuple[str, ...]) -> None:
    assert pod(spec).spec.fields == fields


def test_volumes_that_decide_about_nodes_are_kept_in_order() -> None:
    volumes = [
        {"name": "kube-api-access-abcde", "projected": {}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "aws", "awsElasticBlockStore": {"volumeID": "vol-1"}},
        {"name": "rbd", "rbd": {"monitors": ["m"], "image": "i", "pool": "p", "readOnly": True}},
    ]

    found = pod({"volumes": volumes}).spec.volumes

    assert found == (
        ClaimVolume("data-0"),
        EphemeralVolume("scratch"),
        DiskVolume(kind=DiskKind.AWS, name="vol-1"),
        DiskVolume(kind=DiskKind.RBD, name="i", pool="p", monitors=("m",), is_read_only=True),
    )


def test_volumes_that_decide_nothing_do_not_part_equal_pods() -> None:
    parts = Parts()

    first, second = (
        pod({"volumes": [{"name": f"kube-api-access-{each}", "projected": {}}]}, parts=parts)
        for each in ("abcde", "fghij")
    )

    assert first.spec is second.spec


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        ({}, ()),
        ({"hostNetwork": True, "hostUsers": False}, ("UserNamespacesHostNetworkSupport",)),
        ({"hostNetwork": True}, ()),
        ({"hostUsers": False}, ()),
        (
            {
                "initContainers": [
                    container(restartPolicyRules=[{"action": "RestartAllContainers"}])
                ]
            },
            ("RestartAllContainersOnContainerExits",),
        ),
        ({"containers": [container(restartPolicyRules=[{"action": "Restart"}])]}, ()),
    ],
)
def test_what_a_pod_asks_of_the_kubelet_is_inferred(
    spec: dict[str, Any], features: tuple[str, ...]
) -> None:
    assert pod(spec).spec.required_features == features


def test_spread_constraints_are_read_with_what_they_leave_out() -> None:
    spec = {
        "topologySpreadConstraints": [
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            {
                "maxSkew": 1,
                "topologyKey": "rack",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "a"}},
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["ver"],
            },
        ]
    }

    hard, soft = pod(spec).spec.neighbours.spread

    assert hard == SpreadConstraint(max_skew=2, topology_key="zone")
    assert soft == SpreadConstraint(
        max_skew=1,
        topology_key="rack",
        is_hard=False,
        selector=label_selector({"app": "a"}),
        domains_min=3,
        honors_affinity=False,
        honors_taints=True,
        match_label_keys=("ver",),
    )


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"maxSkew": 0}, "maxSkew", "0 is not allowed; give a number above 0."),
        (
            {"whenUnsatisfiable": "Never"},
            "whenUnsatisfiable",
            "'Never' is not allowed; give DoNotSchedule or ScheduleAnyway.",
        ),
        (
            {"topologyKey": ""},
            "topologyKey",
            "it is empty; give the node label whose values are the domains.",
        ),
    ],
)
def test_a_constraint_that_no_api_server_takes_is_malformed(
    given: dict[str, Any], field: str, reason: str
) -> None:
    found = fault(spread(**given))

    assert found.field == f"spec.topologySpreadConstraints[0].{field}"
    assert found.reason == reason


def test_an_affinity_term_without_a_domain_is_malformed() -> None:
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}, {}]}

    found = fault({"affinity": {"podAntiAffinity": terms}})

    assert found.field == (
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey"
    )


def test_affinity_terms_are_read_as_they_stand() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        "namespaces": ["b", "a"],
        "namespaceSelector": {},
        "mismatchLabelKeys": ["ver"],
    }
    spec = {
        "affinity": {
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": {"topologyKey": "rack", "labelSelector": None}}
                ]
            },
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        }
    }

    found = pod(spec, metadata={"labels": {"ver": "1"}}).spec.neighbours

    expression = LabelSelectorRequirement(key="app", operator="Exists")
    assert found == Neighbours(
        anti_affinity=(
            AffinityTerm(
                topology_key="zone",
                selector=label_selector({}, [expression]),
                namespaces=("a", "b"),
                namespace_selector=label_selector({}),
                mismatch_label_keys=("ver",),
            ),
        ),
        preferred_affinity=(AffinityTerm(topology_key="rack"),),
    )


def test_pods_that_ask_nothing_of_others_share_one_record() -> None:
    assert pod({"affinity": {}}).spec.neighbours is ALONE

"""From what was read to what the engine works on: nothing is lost, and nothing takes others down."""

import json
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.run import InvalidInput
from springtide.model.group import UNRANKED
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

REGISTRATION = "hami.io/node-nvidia-register"
CARD = {"id": "GPU-a", "count": 10, "devmem": 24576, "devcore": 100, "type": "NVIDIA-A10"}
HEALTHY = {**CARD, "mode": "hami-core", "health": True}
Json = dict[str, Any]


def node(name: str, registration: object = None) -> Json:
    notes = {} if registration is None else {REGISTRATION: json.dumps(registration)}
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": notes},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, *, uid: str = "", memory: str = "1000", **spec: object) -> Json:
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": memory}
    container = {"name": "main", "resources": {"limits": limits, "requests": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "uid": uid or f"uid-{name}"},
        "spec": {"containers": [container], **spec},
        "status": {"phase": "Pending"},
    }


def held(name: str, on: str, allocation: str, **metadata: object) -> Json:
    made = pod(name, nodeName=on)
    made["metadata"] |= {
        "annotations": {
            "hami.io/vgpu-node": on,
            "hami.io/vgpu-devices-allocated": allocation,
        },
        **metadata,
    }
    made["status"]["phase"] = "Running"
    return made


def sources(*objects: Json) -> list[Source]:
    items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return [Source("cluster.json", json.dumps(items).encode())]


def picture(*objects: Json) -> Picture:
    return assemble(decode(sources(*objects)), families(None, Policies()))


def plan(*given: Source) -> PlanReport:
    return run(decode(list(given)), Request(), clock=FixedClock(), rng=FirstRng())


def test_a_malformed_registration_closes_its_node_and_no_other() -> None:
    broken = node("broken", [{**HEALTHY, "count": "ten"}])

    found = picture(broken, node("sound", [HEALTHY]), pod("p"))

    (problem,) = found.problems
    assert (problem.source, problem.object) == ("cluster.json", "Node/broken")
    assert '[0].count is the text "ten"' in problem.message
    report = plan(*sources(broken, node("sound", [HEALTHY]), pod("p")))
    assert [(each.pod, each.node) for each in report.fitting] == [("team/p", "sound")]


def test_fc_036_an_unreadable_allocation_closes_its_node_until_the_pod_ends() -> None:
    odd = held("odd", "n1", "GPU-a,NVIDIA,abc,0:;")
    nodes = (node("n1", [HEALTHY]), node("n2", [{**HEALTHY, "id": "GPU-b"}]))

    report = plan(*sources(*nodes, odd, pod("p")))

    assert [(each.pod, each.node) for each in report.fitting] == [("team/p", "n2")]
    alone = plan(*sources(nodes[0], odd, pod("p")))
    assert "device allocation of pod team/odd unreadable" in alone.stuck[0].message
    ended = {**odd, "status": {"phase": "Succeeded"}}
    assert [each.node for each in plan(*sources(nodes[0], ended, pod("p"))).fitting] == ["n1"]


def test_fc_035_a_pod_that_runs_elsewhere_is_not_charged_to_its_annotated_node() -> None:
    stray = held("stray", "n1", "GPU-a,NVIDIA,24000,0:;")
    stray["spec"]["nodeName"] = "n2"

    found = picture(node("n1", [HEALTHY]), node("n2", [{**HEALTHY, "id": "GPU-b"}]), stray)

    assert not found.ledger.devices["NVIDIA"].memory_used.any()
    assert found.ledger.holdings["uid-stray"].row == found.ledger.rows["n2"]


def test_t73_a_pod_that_is_being_deleted_holds_its_cards_until_it_has_ended() -> None:
    going = held("going", "n1", "GPU-a,NVIDIA,24000,0:;", deletionTimestamp="2026-01-01T00:00:00Z")
    ended = {**going, "status": {"phase": "Succeeded"}}

    while_going, after = (picture(node("n1", [HEALTHY]), each) for each in (going, ended))

    assert while_going.ledger.devices["NVIDIA"].memory_used[0].tolist() == [24000]
    assert not after.ledger.devices["NVIDIA"].memory_used.any()


def test_fc_020_a_pod_being_bound_holds_its_cards_and_one_that_fell_back_does_not() -> None:
    stale = held("stale", "n1", "GPU-a,NVIDIA,24000,0:;")
    inflight = held("inflight", "n1", "GPU-b,NVIDIA,24000,0:;")
    for each, phase in ((stale, "failed"), (inflight, "allocating")):
        del each["spec"]["nodeName"]
        each["status"]["phase"] = "Pending"
        each["metadata"]["annotations"]["hami.io/bind-phase"] = phase

    found = picture(node("n1", [HEALTHY, {**HEALTHY, "id": "GPU-b"}]), stale, inflight)

    assert found.ledger.devices["NVIDIA"].memory_used[0].tolist() == [0, 24000]
    assert [each.name for each in found.waiting] == ["stale"]
    two = (node("n1", [HEALTHY, {**HEALTHY, "id": "GPU-b"}]), inflight)
    report = plan(*sources(*two, pod("p1", memory="20000"), pod("p2", memory="20000")))
    assert [each.pod for each in report.fitting] == ["team/p1"]
    assert [stuck.pods for stuck in report.stuck] == [("team/p2",)]


def test_two_pods_with_one_uid_are_both_planned_for() -> None:
    found = picture(node("n1", [HEALTHY]), pod("a", uid="same"), pod("b", uid="same"))

    assert [each.name for each in found.waiting] == ["a", "b"]
    assert len({each.uid for each in found.waiting}) == 2
    assert [problem.field for problem in found.problems] == ["metadata.uid"]


def nominated(name: str, to: str) -> Json:
    made = pod(name)
    made["status"] |= {
        "nominatedNodeName": to,
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
    }
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "6"}}
    return made


def test_a_node_is_kept_for_the_pod_that_is_nominated_to_it() -> None:
    other = pod("other")
    other["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}

    report = plan(*sources(node("n1"), nominated("first", "n1"), other))

    assert report.pending == 1
    assert [(each.pod, each.reason) for each in report.apart] == [
        ("team/first", "waits for node n1, to which the scheduler has nominated it")
    ]
    (stuck,) = report.stuck
    assert stuck.pods == ("team/other",)
    assert stuck.message.startswith("0/1 nodes are available: 1 Insufficient cpu. ")


def test_a_pod_that_is_nominated_to_a_node_that_is_gone_is_planned_for() -> None:
    report = plan(*sources(node("n1"), nominated("first", "gone")))

    assert [(each.pod, each.node) for each in report.fitting] == [("team/first", "n1")]
    assert report.apart == ()


def test_pods_that_could_go_are_talked_about_and_not_counted_on() -> None:
    low = pod("low", nodeName="n1", priority=1)
    low["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "6"}}
    kept = nominated("kept", "n1")
    kept["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    high = pod("high", priority=5)
    high["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "5"}}

    report = plan(*sources(node("n1"), low, kept, high))

    (stuck,) = report.stuck
    assert stuck.pods == ("team/high",)
    assert stuck.message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement "
        "for pod on node n1, preempting 1 victims"
    )


def test_a_budget_in_the_input_protects_pods_in_what_is_said() -> None:
    running = []
    for name, priority, place in (("a", 1, "n1"), ("b", 2, "n2")):
        made = pod(name, nodeName=place, priority=priority)
        made["metadata"]["labels"] = {"app": name}
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "8"}}
        running.append(made)
    high = pod("high", priority=5)
    high["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "5"}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a", "namespace": "team"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}},
    }
    nodes = (node("n1"), node("n2"))

    places = [
        plan(*sources(*nodes, *running, high, *budgets)).stuck[0].message.split()[-4]
        for budgets in ((), (budget,))
    ]

    assert places == ["n1,", "n2,"]


def test_what_waits_for_something_else_is_told_apart() -> None:
    gated = pod("gated", schedulingGates=[{"name": "later"}])
    leaving = pod("leaving")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    daemon = pod("daemon")
    daemon["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}
    ]

    found = picture(gated, leaving, daemon)

    assert found.waiting == ()
    assert {each.name: reason for each, reason in found.apart} == {
        "gated": "waits for scheduling gates: later",
        "leaving": "is being deleted",
        "daemon": "is a DaemonSet's pod, which new nodes do not help",
    }


def test_a_manifest_that_admission_would_deny_is_not_called_schedulable() -> None:
    manifest = pod("x")
    del manifest["metadata"]["uid"], manifest["status"]
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "150"}
    manifest["spec"]["containers"][0]["resources"] = {"limits": limits}

    report = plan(*sources(node("n1", [HEALTHY]), manifest))

    assert not report.is_satisfied
    assert "would be denied at admission: invalid nvidia.com/gpumem-percentage value 150" in (
        report.apart[0].reason
    )


def test_a_profile_of_an_unknown_vendor_is_left_out() -> None:
    profile = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "DeviceProfile",
        "metadata": {"name": "odd"},
        "spec": {
            "nodeSelector": {"matchLabels": {"a": "b"}},
            "devices": [
                {"vendor": "Nvdia", "count": 1, "slots": 1, "memoryMiB": 1, "type": "NVIDIA-X"}
            ],
        },
    }

    report = plan(Source("profile.json", json.dumps(profile).encode()))

    (problem,) = report.problems
    assert (problem.source, problem.object) == ("profile.json", "DeviceProfile/odd")
    assert problem.field == "spec.devices[].vendor"
    assert "'Nvdia' is not known; use one of NVIDIA" in problem.message


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        ("nvidia: {memoryFactor: two}", "nvidia.memoryFactor: expected `int`, got `str`"),
        (
            "nvidia: {resourceCountName: 5}",
            "nvidia.resourceCountName: expected `str`, got `int`",
        ),
    ],
)
def test_a_device_configuration_of_the_wrong_type_is_refused_with_its_field(
    section: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=r"device-config\.yaml") as raised:
        plan(Source("device-config.yaml", section.encode()))

    assert complaint in str(raised.value)


def test_a_node_that_two_groups_claim_is_counted_once() -> None:
    groups = [
        {"name": name, "maxSize": 3, "nodeSelector": {"matchLabels": {"pool": "x"}}}
        for name in ("first", "second")
    ]
    document = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": groups}
    shared = node("n1")
    shared["metadata"]["labels"] = {"pool": "x"}

    report = plan(*sources(shared), Source("groups.json", json.dumps(document).encode()))

    assert [(group.name, group.size_before) for group in report.groups] == [
        ("first", 1),
        ("second", 0),
    ]
    (problem,) = report.problems
    assert (problem.source, problem.object) == ("groups.json", "NodeGroup/second")
    assert "belongs to first already" in problem.message


def test_priorities_of_a_config_map_take_the_place_of_those_of_groups() -> None:
    template = {"capacity": {"cpu": "4"}}
    named = [{"name": name, "maxSize": 1, "priority": 3, "template": template} for name in "ab"]
    groups = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": named}
    metadata = {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"}
    rules = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"priorities": "10:\n- a\n"},
    }

    found = picture(groups, rules)

    assert [item.group.priority for item in found.groups] == [10, UNRANKED]

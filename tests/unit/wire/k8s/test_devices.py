"""Device objects as model records."""

import json
from typing import Any

import pytest

from springtide.base import quantity
from springtide.base.taints import Taint, Toleration
from springtide.model.device_facts import Version
from springtide.model.device_slices import (
    CounterSet,
    DeviceCapacity,
    DeviceClass,
    NodeScope,
    OfferedDevice,
    RequestPolicy,
    RequestRange,
    ResourceSlice,
    TaintRule,
)
from springtide.model.pod import PodClaim
from springtide.model.resource_claims import (
    ClaimAllocation,
    ClaimContent,
    DeviceConstraint,
    DeviceObjects,
    DeviceRequest,
    DeviceUse,
    Exactly,
    FirstAvailable,
)
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.builders import term


def made(kind: str, version: str = "v1", name: str = "x", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": kind,
        "metadata": metadata,
        **fields,
    }


def read(*objects: dict[str, Any]) -> Input:
    listed = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def devices(*objects: dict[str, Any]) -> DeviceObjects:
    found = read(*objects)
    assert found.problems == ()
    return found.device_objects


def sliced(*found: dict[str, Any], **fields: Any) -> dict[str, Any]:
    pool = {"name": "p", "generation": 2, "resourceSliceCount": 3}
    spec = {"driver": "d.io", "pool": pool, "devices": list(found), **fields}
    return made("ResourceSlice", spec=spec)


def claimed(*requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    spec = {"devices": {"requests": list(requests), **fields}}
    return made("ResourceClaim", spec=spec)


def test_a_slice_says_where_and_in_which_pool_its_devices_are() -> None:
    counters = {"name": "set", "counters": {"slices": {"value": "7"}}}

    found = devices(sliced(nodeName="n", sharedCounters=[counters])).slices

    assert found == {
        "x": ResourceSlice(
            name="x",
            driver="d.io",
            pool="p",
            generation=2,
            slice_count=3,
            scope=NodeScope(node_name="n"),
            shared_counters=(CounterSet("set", (("slices", quantity.parse("7")),)),),
        )
    }


@pytest.mark.parametrize(
    ("fields", "scope"),
    [
        ({"allNodes": True}, NodeScope(is_everywhere=True)),
        (
            {
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
                    ]
                }
            },
            NodeScope(terms=(term("zone", "In", "a"),)),
        ),
        ({"perDeviceNodeSelection": True}, None),
    ],
)
def test_a_slice_may_be_for_several_nodes(fields: dict[str, Any], scope: NodeScope | None) -> None:
    found = devices(sliced(**fields)).slices["x"]

    assert found.scope == scope
    assert found.is_per_device == (scope is None)


def test_a_device_has_all_that_is_said_about_it() -> None:
    device = {
        "name": "d0",
        "attributes": {
            "model": {"string": "a100"},
            "index": {"int": 0},
            "healthy": {"bool": False},
            "other.io/version": {"version": "1.2.3"},
            "listed": {"ints": [1]},
        },
        "capacity": {"memory": {"value": "40Gi"}},
        "consumesCounters": [{"counterSet": "set", "counters": {"slices": {"value": "1"}}}],
        "nodeName": "n",
        "taints": [{"key": "bad", "effect": "NoExecute"}],
        "allowMultipleAllocations": True,
        "bindsToNode": True,
        "bindingConditions": ["ready"],
    }

    (found,) = devices(sliced(device)).slices["x"].devices

    assert found == OfferedDevice(
        name="d0",
        attributes=(
            ("d.io/healthy", False),
            ("d.io/index", 0),
            ("d.io/model", "a100"),
            ("other.io/version", Version("1.2.3")),
        ),
        capacity=(DeviceCapacity(name="memory", value=quantity.parse("40Gi")),),
        consumes=(CounterSet("set", (("slices", quantity.parse("1")),)),),
        scope=NodeScope(node_name="n"),
        taints=(Taint(key="bad", effect="NoExecute"),),
        allows_multiple=True,
        binds_to_node=True,
        binding_conditions=("ready",),
    )


def test_a_request_policy_is_read() -> None:
    policy = {
        "default": "1Gi",
        "validValues": ["1Gi", "2Gi"],
        "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"},
    }
    device = {"name": "d", "capacity": {"memory": {"value": "8Gi", "requestPolicy": policy}}}

    (found,) = devices(sliced(device)).slices["x"].devices

    one, two, eight = (quantity.parse(text) for text in ("1Gi", "2Gi", "8Gi"))
    assert found.capacity[0].policy == RequestPolicy(
        default=one, values=(one, two), range=RequestRange(low=one, high=eight, step=one)
    )


def test_the_oldest_version_of_a_device_is_read() -> None:
    basic = {"attributes": {"model": {"string": "a"}}, "capacity": {"memory": {"value": 1}}}
    older = made(
        "ResourceSlice",
        "v1beta1",
        spec={"driver": "d.io", "pool": {"name": "p"}, "devices": [{"name": "d", "basic": basic}]},
    )

    (found,) = devices(older).slices["x"].devices

    assert found.attributes == (("d.io/model", "a"),)
    assert found.capacity == (DeviceCapacity(name="memory", value=quantity.parse("1")),)


def test_classes_and_taint_rules_are_read() -> None:
    selectors = [{"cel": {"expression": "true"}}]
    device_class = made(
        "DeviceClass",
        metadata={"creationTimestamp": "2026-01-01T00:00:00Z"},
        spec={"selectors": selectors, "extendedResourceName": "example.com/gpu"},
    )
    taint = {
        "key": "bad",
        "value": "yes",
        "effect": "NoSchedule",
        "timeAdded": "2026-01-01T00:00:00Z",
    }
    rule = made(
        "DeviceTaintRule",
        spec={"deviceSelector": {"driver": "d.io", "device": "d"}, "taint": taint},
    )

    found = devices(device_class, rule)

    assert found.classes == {
        "x": DeviceClass(
            name="x",
            selectors=("true",),
            extended_resource="example.com/gpu",
            created="2026-01-01T00:00:00Z",
        )
    }
    assert found.taint_rules == {
        "x": TaintRule(name="x", taint=Taint(key="bad", value="yes"), driver="d.io", device="d")
    }


def test_a_claim_is_read_as_an_api_server_stores_it() -> None:
    bare = {"name": "bare", "exactly": {"deviceClassName": "gpu"}}
    full = {
        "name": "full",
        "exactly": {
            "deviceClassName": "gpu",
            "selectors": [{"cel": {"expression": "true"}}],
            "allocationMode": "All",
            "adminAccess": True,
            "tolerations": [{"key": "bad", "operator": "Exists"}],
            "capacity": {"requests": {"memory": "1Gi"}},
        },
    }
    constraints = [
        {"requests": ["full"], "matchAttribute": "d.io/numa"},
        {"distinctAttribute": "d.io/index"},
    ]

    found = devices(claimed(bare, full, constraints=constraints)).claims["default/x"].content

    assert found == ClaimContent(
        requests=(
            Exactly(DeviceRequest(name="bare", class_name="gpu")),
            Exactly(
                DeviceRequest(
                    name="full",
                    class_name="gpu",
                    selectors=("true",),
                    mode="All",
                    admin_access=True,
                    tolerations=(Toleration(key="bad", operator="Exists"),),
                    capacity=(("memory", quantity.parse("1Gi")),),
                )
            ),
        ),
        constraints=(
            DeviceConstraint(attribute="d.io/numa", requests=("full",)),
            DeviceConstraint(attribute="d.io/index", is_distinct=True),
        ),
    )


def test_alternatives_and_the_oldest_requests_are_read() -> None:
    alternatives = [{"name": "s0", "deviceClassName": "gpu", "count": 2}]
    found = devices(
        claimed(
            {"name": "r", "firstAvailable": alternatives},
            {"name": "q", "deviceClassName": "gpu", "count": 3},
        )
    )

    assert found.claims["default/x"].content.requests == (
        FirstAvailable("r", (DeviceRequest(name="s0", class_name="gpu", count=2),)),
        Exactly(DeviceRequest(name="q", class_name="gpu", count=3)),
    )


def test_what_a_claim_was_given_is_read() -> None:
    results = [
        {"request": "r", "driver": "d.io", "pool": "p", "device": "d", "adminAccess": True},
        {
            "request": "r",
            "driver": "d.io",
            "pool": "p",
            "device": "e",
            "shareID": "s",
            "consumedCapacity": {"memory": "1Gi"},
        },
        {"request": "r", "driver": "d.io", "pool": "p", "device": "f", "shareID": "s"},
    ]
    field = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    status = {
        "allocation": {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        },
        "reservedFor": [
            {"resource": "pods", "name": "p", "uid": "u"},
            {"resource": "others", "name": "o", "uid": "o"},
        ],
    }

    found = devices({**claimed(), "status": status}).claims["default/x"]

    assert found.reserved_for == ("u",)
    assert found.allocation is not None
    assert found.allocation.devices == tuple(
        DeviceUse(
            request="r",
            driver="d.io",
            pool="p",
            device=name,
            admin_access=is_admin,
            consumed=consumed,
        )
        for name, is_admin, consumed in (
            ("d", True, None),
            ("e", False, (("memory", quantity.parse("1Gi")),)),
            ("f", False, ()),
        )
    )
    assert found.allocation.terms is not None
    assert found.allocation.terms[0].fields[0].values == ("n",)


def test_a_claim_without_devices_and_a_template_are_read() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    template = made(
        "ResourceClaimTemplate",
        metadata={"namespace": "team"},
        spec={"spec": {"devices": {"requests": [request]}}},
    )
    empty = {**claimed(), "status": {"allocation": {}}}

    found = devices(template, empty)

    assert found.templates["team/x"].content.requests == (
        Exactly(DeviceRequest(name="r", class_name="gpu")),
    )
    assert found.claims["default/x"].allocation == ClaimAllocation()


def test_a_pod_names_its_claims() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u"},
        "spec": {
            "resourceClaims": [
                {"name": "a", "resourceClaimName": "mine"},
                {"name": "b", "resourceClaimTemplateName": "t"},
            ]
        },
        "status": {
            "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "p-b"}, {"name": "c"}]
        },
    }

    (found,) = read(pod).pods

    assert found.spec.device_claims == (
        PodClaim(name="a", claim="mine"),
        PodClaim(name="b", template="t"),
    )
    assert found.made_claims == (("b", "p-b"), ("c", ""))


REQUEST = "spec.devices.requests[0]"


@pytest.mark.parametrize(
    ("broken", "field", "remedy"),
    [
        (sliced({"name": ""}), "spec.devices[0].name", "give it one"),
        (
            sliced({"name": "d", "attributes": {"a": {"int": 1, "bool": True}}}),
            'spec.devices[0].attributes["a"]',
            "give it one",
        ),
        (
            sliced({"name": "d", "capacity": {"memory": {"value": "much"}}}),
            'spec.devices[0].capacity["memory"].value',
            "write one like",
        ),
        (
            sliced({"name": 5}),
            "spec.devices[0].name",
            "this is a whole number where a text belongs; put it in quotes",
        ),
        (
            sliced(sharedCounters=[{"name": "s", "counters": {"c": {"value": "x"}}}]),
            'spec.sharedCounters[0].counters["c"]',
            "write one like",
        ),
        (
            made("DeviceClass", spec={"selectors": [{}]}),
            "spec.selectors[0]",
            "give it `cel.expression`",
        ),
        (made("DeviceTaintRule", spec={}), "spec.taint", "add it"),
        (
            made(
                "DeviceTaintRule",
                spec={"deviceSelector": {"deviceClassName": "gpu"}, "taint": {"key": "bad"}},
            ),
            "spec.deviceSelector",
            "select by driver, pool or device",
        ),
        (claimed({"name": "r"}), REQUEST, "give it `exactly` or `firstAvailable`"),
        (
            claimed({"name": "r", "exactly": {"allocationMode": "Some"}}),
            f"{REQUEST}.exactly.allocationMode",
            "give ExactCount or All",
        ),
        (
            claimed({"name": "r", "exactly": {"count": -1}}),
            f"{REQUEST}.exactly.count",
            "give a number above 0",
        ),
        (
            claimed(constraints=[{"requests": ["r"]}]),
            "spec.devices.constraints[0]",
            "give it one of",
        ),
        (made("ResourceClaim", name=""), "metadata.name", "give it one"),
    ],
)
def test_a_broken_object_is_left_out_and_no_other(
    broken: dict[str, Any], field: str, remedy: str
) -> None:
    found = read(broken, made("DeviceClass", name="fine"))

    (problem,) = found.problems
    assert (problem.source, problem.field) == ("in.json", field)
    assert remedy in problem.message
    assert list(found.device_objects.classes) == ["fine"]


def test_an_object_that_is_given_twice_counts_once() -> None:
    found = read(sliced(nodeName="n"), sliced(nodeName="m"))

    assert [problem.object for problem in found.problems] == ["ResourceSlice/x"]
    assert found.device_objects.slices["x"].scope == NodeScope(node_name="n")

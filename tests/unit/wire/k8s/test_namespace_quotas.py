"""ResourceQuotas as model records."""

import json
from typing import Any

from springtide.model.quotas import NamespaceQuota
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.builders import resources


def quota(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "team"} if name else {},
        "spec": {"hard": {}},
    }


def read(*items: dict[str, Any]) -> Input:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(items)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def test_limits_of_extended_resources_are_read_as_they_are_written() -> None:
    hard = {
        "limits.nvidia.com/gpumem": "16Gi",
        "limits.nvidia.com/gpucores": 400,
        "requests.nvidia.com/gpu": "4",
        "limits.cpu": "10",
        "pods": "5",
    }
    status = {"hard": {"limits.nvidia.com/gpumem": "1"}, "used": {}}

    found = read({**quota("gpus"), "spec": {"hard": hard}, "status": status})

    limits = resources({"nvidia.com/gpucores": 400, "nvidia.com/gpumem": "16Gi"})
    assert found.quotas == (NamespaceQuota(namespace="team", name="gpus", limits=limits),)
    assert (found.counts, found.problems) == ({"ResourceQuota": 1}, ())


def test_a_quota_without_limits_says_nothing() -> None:
    bare = quota("bare")
    del bare["spec"]

    assert [each.limits for each in read(bare, quota("none")).quotas] == [(), ()]


def test_a_broken_quota_costs_itself_only() -> None:
    odd = {**quota("odd"), "spec": {"hard": {"limits.nvidia.com/gpumem": "many"}}}

    found = read(quota(""), odd, quota("gpus"), quota("gpus"))

    assert [each.name for each in found.quotas] == ["gpus"]
    assert [(each.object, each.field) for each in found.problems] == [
        ("ResourceQuota at items[0]", "metadata.name"),
        ("ResourceQuota/team/odd", 'spec.hard["limits.nvidia.com/gpumem"]'),
        ("ResourceQuota/team/gpus", ""),
    ]

"""What policies are told of a cluster before anything is decided."""

import json
from typing import Any

import pytest

from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import POLICIES, Policies, families
from springtide.apps.planner.learning import learn
from springtide.engine.placement.policy import PolicyTable
from springtide.policies.fragmentation import NAME, Fragmentation
from springtide.wire.documents import decode
from springtide.wire.source import Source

PODS = 64
NAMED = {"hami.io/gpu-scheduler-policy": f"mutex,{NAME}"}


def waiting(number: int, notes: dict[str, str]) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1000"}
    container = {"name": "main", "resources": {"limits": limits, "requests": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{number}", "uid": f"{number}", "annotations": notes},
        "spec": {"containers": [container]},
        "status": {"phase": "Pending"},
    }


@pytest.mark.parametrize(
    ("policies", "notes", "versions"),
    [
        (Policies(), {}, 0),
        (Policies(node=NAME), {}, 1),
        (Policies(device=NAME), {}, 1),
        (Policies(), NAMED, 1),
    ],
)
def test_pods_are_counted_if_anybody_asks_for_a_policy_that_counts(
    policies: Policies, notes: dict[str, str], versions: int
) -> None:
    kinds = families(None, policies)
    pods = {"apiVersion": "v1", "kind": "List", "items": [waiting(n, notes) for n in range(PODS)]}
    picture = assemble(decode([Source("pods.json", json.dumps(pods).encode())]), kinds)
    policy = Fragmentation(kinds)

    learn(PolicyTable({NAME: policy}), picture, kinds, policies)

    assert policy.version == versions
    assert NAME in POLICIES

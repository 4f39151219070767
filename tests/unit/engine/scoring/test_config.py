"""What a profile says about scores."""

import json
from typing import Any

from springtide.engine.framework.profiles import set_up
from springtide.engine.scoring.config import WEIGHTS, ScoringConfig
from springtide.model.neighbours import SpreadConstraint
from springtide.model.plugin_arguments import ResourceSpec, ShapePoint
from springtide.model.preferences import PreferredNodes
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json
from tests.builders import term

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def configured(**profile: Any) -> ScoringConfig:
    document = {**HEADER, "profiles": [{"schedulerName": "a", **profile}]}
    read = from_json(json.dumps(document).encode())
    (only,) = set_up(read, CONSTRUCTION_FAULTS).profiles
    return only.scoring


def argued(name: str, **args: Any) -> ScoringConfig:
    return configured(pluginConfig=[{"name": name, "args": args}])


def test_a_profile_that_says_nothing_is_the_default_one() -> None:
    found = configured()

    assert dict(found.weights) == dict(WEIGHTS)
    assert set(found.prepared or ()) < dict(WEIGHTS).keys()
    assert ScoringConfig(weights=found.weights, prepared=found.prepared) == found


def test_weights_are_those_of_the_profile() -> None:
    plugins = {
        "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality", "weight": 7}]}
    }

    assert configured(plugins=plugins).weights == (("ImageLocality", 7),)


def test_strategy_and_balance_are_read() -> None:
    fit = argued(
        "NodeResourcesFit",
        scoringStrategy={"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]},
    )
    balanced = argued(
        "NodeResourcesBalancedAllocation", resources=[{"name": "example.com/gpu", "weight": 1}]
    )

    assert fit.strategy.type == "MostAllocated"
    assert fit.strategy.resources == (ResourceSpec("cpu", 3),)
    assert balanced.balanced == (ResourceSpec("example.com/gpu", 1),)


def test_added_preferences_are_read() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    preferred = [{"weight": 5, "preference": {"matchExpressions": [expression]}}]

    found = argued(
        "NodeAffinity",
        addedAffinity={"preferredDuringSchedulingIgnoredDuringExecution": preferred},
    )

    assert found.preferred_nodes == (PreferredNodes(5, term("zone", "In", "a")),)


def test_default_constraints_replace_those_of_kubernetes() -> None:
    constraints = [
        {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
        {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"},
    ]

    found = argued("PodTopologySpread", defaultingType="List", defaultConstraints=constraints)

    assert found.default_spread == (
        SpreadConstraint(max_skew=2, topology_key="zone", is_hard=False),
        SpreadConstraint(max_skew=1, topology_key="rack"),
    )
    assert not found.is_system_spread


def test_affinity_and_volumes_are_read() -> None:
    affinity = argued(
        "InterPodAffinity", hardPodAffinityWeight=0, ignorePreferredTermsOfExistingPods=True
    )
    volumes = argued("VolumeBinding", shape=[{"utilization": 0, "score": 0}])

    assert affinity.required_affinity_weight == 0
    assert affinity.ignores_preferences_of_others
    assert volumes.storage_shape == (ShapePoint(0, 0),)

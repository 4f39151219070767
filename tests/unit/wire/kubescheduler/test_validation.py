"""What cannot be in a configuration, where the recordings leave a case open."""

import json
from typing import Any

import pytest

from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json, validation_faults

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def faults(**fields: Any) -> list[str]:
    configuration = from_json(json.dumps({**HEADER, **fields}).encode())
    return [fault.text for fault in validation_faults(configuration)]


def fault_of_arguments(name: str, **args: Any) -> list[str]:
    config = {"name": name, "args": args}
    return faults(profiles=[{"schedulerName": "a", "pluginConfig": [config]}])


def fault_of_fit(**args: Any) -> str | None:
    config = {"name": "NodeResourcesFit", "args": args}
    profile = {"schedulerName": "a", "pluginConfig": [config]}
    configuration = from_json(json.dumps({**HEADER, "profiles": [profile]}).encode())
    read = configuration.profiles[0].arguments("NodeResourcesFit")
    return CONSTRUCTION_FAULTS["NodeResourcesFit"](read)


def test_both_limits_of_preemption_cannot_be_zero() -> None:
    at = "profiles[0].pluginConfig[0].args.minCandidateNodes"

    found = fault_of_arguments(
        "DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=0
    )

    assert found == [
        f"{at}Percentage: Invalid value: 0: cannot be zero at the same time as {at}Absolute",
        f"{at}Absolute: Invalid value: 0: cannot be zero at the same time as {at}Percentage",
    ]


def test_a_removed_plugin_is_refused_at_one_point_and_in_the_arguments() -> None:
    profile = {
        "schedulerName": "a",
        "plugins": {"filter": {"enabled": [{"name": "EBSLimits"}]}},
        "pluginConfig": [{"name": "CinderLimits"}],
    }
    why = (
        'was invalid in version "v1" (KubeSchedulerConfiguration is version '
        '"kubescheduler.config.k8s.io/v1")'
    )

    assert faults(profiles=[profile]) == [
        f'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": {why}',
        f'profiles[0].pluginConfig[0]: Invalid value: "CinderLimits": {why}',
    ]


def test_profiles_share_one_queue_and_so_its_order() -> None:
    plugins = {"queueSort": {"enabled": [{"name": "PrioritySort", "weight": 2}]}}

    found = faults(profiles=[{"schedulerName": "a"}, {"schedulerName": "b", "plugins": plugins}])

    assert found == [
        (
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":2}]'
            ',"Disabled":null}: must be the same for all profiles'
        )
    ]


def test_one_resource_is_managed_once() -> None:
    managed = {"urlPrefix": "x", "managedResources": [{"name": "example.com/a"}]}

    assert faults(extenders=[managed, managed]) == [
        (
            'extenders[1].managedResources[0].name: Invalid value: "example.com/a": '
            "duplicate extender managed resource name"
        )
    ]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            {"ignoredResourceGroups": ["a/b"]},
            "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
        ),
        (
            {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 101}],
                }
            },
            (
                "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid"
                " range (0, 100]"
            ),
        ),
        ({}, None),
    ],
)
def test_arguments_of_the_resource_rule_are_looked_at_when_it_is_made(
    args: dict[str, Any], text: str | None
) -> None:
    assert fault_of_arguments("NodeResourcesFit", **args) == []
    assert fault_of_fit(**args) == text

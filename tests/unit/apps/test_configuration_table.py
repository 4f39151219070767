"""The scheduler configuration by the table of its cases, read and set up as a plan does it."""

import json
from typing import Any

import pytest

from springtide.engine.framework.profiles import Profile, Scheduler, set_up
from springtide.model.plugin_arguments import NodeResourcesFitArgs
from springtide.model.scheduler import SchedulerConfiguration
from springtide.wire.documents import decode
from springtide.wire.errors import InvalidDocument
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS
from springtide.wire.source import Source
from tests.unit.apps.test_schedulers import HEADER

GPU = "nvidia.com/gpu"
MANAGED = {"urlPrefix": "x", "managedResources": [{"name": GPU, "ignoredByScheduler": True}]}
BINDING = {"urlPrefix": "x", "bindVerb": "bind"}
DEFAULT_FILTERS = (
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
)


def read(**fields: Any) -> SchedulerConfiguration:
    found = decode([Source("scheduler.yaml", json.dumps({**HEADER, **fields}).encode())]).scheduler
    assert found is not None
    return found.configuration


def started(**fields: Any) -> Scheduler:
    return set_up(read(**fields), CONSTRUCTION_FAULTS)


def profile(**fields: Any) -> Profile:
    (only,) = started(profiles=[{"schedulerName": "a", **fields}]).profiles
    return only


def fit(**args: Any) -> dict[str, Any]:
    return {"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}


def fit_of(**args: Any) -> NodeResourcesFitArgs:
    (only,) = read(profiles=[{"schedulerName": "a", **fit(**args)}]).profiles
    found = only.arguments("NodeResourcesFit")
    assert isinstance(found, NodeResourcesFitArgs)
    return found


def test_k1_an_empty_configuration_is_the_default_scheduler() -> None:
    (only,) = started().profiles

    assert only.name == "default-scheduler"
    assert only.plugins.points["filter"] == DEFAULT_FILTERS
    assert dict(only.plugins.weights)["TaintToleration"] == 3


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param(
            {"foo": 1}, "foo: kube-scheduler refuses this: strict decoding error: unknown", id="K2"
        ),
        pytest.param(
            {"profiles": [{"schedulerName": "a"}, {}]},
            "profiles[1].schedulerName: kube-scheduler refuses this: Required value",
            id="K3",
        ),
        pytest.param(
            {"extenders": [BINDING, BINDING]},
            "extenders: kube-scheduler refuses this: Invalid value: "
            '"found 2 extenders implementing bind"',
            id="K6",
        ),
        pytest.param(
            {"extenders": [MANAGED, MANAGED]},
            "extenders[1].managedResources[0].name: kube-scheduler refuses this: "
            f'Invalid value: "{GPU}": duplicate extender managed resource name',
            id="K7",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read(**fields)

    assert f"{caught.value.field}: {caught.value.reason}".startswith(complaint)
    assert str(caught.value).startswith("scheduler.yaml")


def test_k4_a_scored_resource_without_a_weight_weighs_one() -> None:
    strategy = fit_of(scoringStrategy={"resources": [{"name": "cpu"}]}).scoring_strategy

    assert strategy is not None
    assert [(each.name, each.weight) for each in strategy.resources] == [("cpu", 1)]


def test_k5_a_group_of_resources_cannot_contain_a_slash() -> None:
    args = fit_of(ignoredResourceGroups=["a/b"])

    fault = CONSTRUCTION_FAULTS["NodeResourcesFit"](args)

    assert fault is not None
    assert fault.endswith("resource group name can't contain '/'")


def test_k8_one_score_plugin_may_replace_all_others() -> None:
    enabled = [{"name": "NodeResourcesFit", "weight": 5}]
    score = {"disabled": [{"name": "*"}], "enabled": enabled}

    found = profile(plugins={"score": score})

    assert found.plugins.weights == (("NodeResourcesFit", 5),)


def test_k9_a_filter_may_be_left_out() -> None:
    found = profile(plugins={"filter": {"disabled": [{"name": "NodePorts"}]}})

    by_default = profile().plugins.points["filter"]
    left = [name for name in by_default if name != "NodePorts"]
    assert list(found.plugins.points["filter"]) == left


@pytest.mark.parametrize(
    ("fields", "timeout"),
    [
        pytest.param({}, "5s", id="K10 absent"),
        pytest.param({"httpTimeout": "0s"}, "5s", id="K10"),
        pytest.param({"httpTimeout": "1m30s"}, "1m30s", id="given"),
    ],
)
def test_an_extender_has_five_seconds_unless_it_is_told_otherwise(
    fields: dict[str, Any], timeout: str
) -> None:
    (extender,) = started(extenders=[{"urlPrefix": "x", **fields}]).extenders

    assert str(extender.call_timeout) == timeout


def test_k11_what_extenders_manage_is_ignored_in_every_profile_in_place_of_its_own() -> None:
    own = {"schedulerName": "a", **fit(ignoredResources=["a.b/c"])}

    found = started(profiles=[own, {"schedulerName": "b"}], extenders=[MANAGED]).profiles

    assert [each.framework.ignored_resources for each in found] == [{GPU}, {GPU}]
    assert [each.replaced for each in found] == [("a.b/c",), ()]

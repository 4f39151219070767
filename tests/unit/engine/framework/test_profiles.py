"""A scheduler set up from a configuration: what its profiles ask, and what keeps it from starting."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from springtide.engine.framework.framework import NEEDS_PREPARATION, Framework
from springtide.engine.framework.profiles import CannotSetUp, Profile, Scheduler, set_up
from springtide.model.neighbours import SpreadConstraint
from springtide.model.plugin_arguments import DefaultPreemptionArgs
from springtide.model.pod import Container, HostPort, PodSpec
from springtide.model.scheduler import Extender, ExtenderTLSConfig, SchedulerConfiguration
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json
from tests.unit.engine.framework.asking import answers, container, pod, roomy

FOLDER = Path(__file__).parents[3] / "recorded" / "kube"
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
STRIDE = 3


def started(**fields: Any) -> Scheduler:
    read = from_json(json.dumps({**HEADER, **fields}).encode())
    return set_up(read, CONSTRUCTION_FAULTS)


def profile(**fields: Any) -> Profile:
    (only,) = started(profiles=[{"schedulerName": "a", **fields}]).profiles
    return only


def tls_fault(missing: tuple[str, ...] = (), **tls: Any) -> str:
    extender = Extender(tls_config=ExtenderTLSConfig(**tls))
    with pytest.raises(CannotSetUp) as caught:
        set_up(
            SchedulerConfiguration(extenders=(extender,)),
            CONSTRUCTION_FAULTS,
            missing_files=missing,
        )
    return caught.value.text.removeprefix("couldn't build extenders: ")


def fit(**args: Any) -> list[dict[str, Any]]:
    return [{"name": "NodeResourcesFit", "args": args}]


def managing(*names: str) -> list[dict[str, Any]]:
    managed = [{"name": name, "ignoredByScheduler": True} for name in names]
    return [{"urlPrefix": "x", "managedResources": managed}]


def recorded_profiles() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("filters-*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            told = (line for line in lines if '"filter_order"' in line)
            yield from map(json.loads, islice(told, 0, None, STRIDE))


def test_filters_and_weights_of_recorded_profiles_are_as_recorded() -> None:
    found = {
        case["id"]: only.plugins
        for case in recorded_profiles()
        for only in set_up(
            from_json(json.dumps(case["config"]).encode()), CONSTRUCTION_FAULTS
        ).profiles
        if list(only.plugins.points["filter"]) != case["expect"]["filter_order"]
        or dict(only.plugins.weights) != case["expect"].get("score_weights", {})
    }

    assert found == {}


# What a profile asks


def test_a_profile_ignores_its_resources_and_groups() -> None:
    found = profile(pluginConfig=fit(ignoredResources=["a.b/c"], ignoredResourceGroups=["d.e"]))

    framework = Framework(found.framework)

    assert [framework.counts(name) for name in ("a.b/c", "d.e/f", "g.h/i")] == [False, False, True]


def test_what_extenders_manage_replaces_what_a_profile_ignores() -> None:
    profiles = [
        {"schedulerName": "a", "pluginConfig": fit(ignoredResources=["a.b/c", "a.b/d"])},
        {"schedulerName": "b"},
    ]

    found = started(profiles=profiles, extenders=managing("a.b/d", "a.b/e"))

    assert [sorted(each.framework.ignored_resources) for each in found.profiles] == [
        ["a.b/d", "a.b/e"],
        ["a.b/d", "a.b/e"],
    ]
    assert [each.replaced for each in found.profiles] == [("a.b/c",), ()]


def test_rules_judge_in_the_order_of_the_profile() -> None:
    plugins = {"filter": {"enabled": [{"name": "NodePorts"}]}}
    wants = PodSpec(containers=(container({"cpu": "1Ti"}),), node_selector=(("a", "b"),))

    found = profile(plugins=plugins)
    by_default = answers(pod(wants), [roomy()])

    assert Framework(found.framework).rules[0].name == "NodePorts"
    assert answers(pod(wants), [roomy()], config=found.framework) == by_default


def test_a_rule_that_the_profile_leaves_out_refuses_nothing() -> None:
    large = PodSpec(containers=(container({"cpu": "1Ti"}),))
    without = profile(plugins={"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}})

    (refused,) = answers(pod(large), [roomy()])
    (accepted,) = answers(pod(large), [roomy()], config=without.framework)

    assert refused is not None
    assert accepted is None
    assert not Framework(without.framework).counts("cpu")


def test_without_its_preparation_a_rule_restricts_nothing_before_rows_are_looked_at() -> None:
    plugins = {"preFilter": {"disabled": [{"name": "NodeAffinity"}]}}
    chosen = PodSpec(node_selector=(("a", "b"),))

    found = answers(
        pod(chosen), [roomy(), roomy("b", {"a": "b"})], config=profile(plugins=plugins).framework
    )

    assert [each and each.rule for each in found] == ["NodeAffinity", None]


@pytest.mark.parametrize("name", ["VolumeZone", "NodeVolumeLimits", "NodeDeclaredFeatures"])
def test_other_rules_let_pods_that_do_not_concern_them_pass_without_it(name: str) -> None:
    config = profile(plugins={"preFilter": {"disabled": [{"name": name}]}}).framework

    assert answers(pod(), [roomy()], config=config) == [None]


@pytest.mark.parametrize("name", sorted(NEEDS_PREPARATION))
def test_rules_that_need_their_preparation_fail_without_it(name: str) -> None:
    config = profile(plugins={"preFilter": {"disabled": [{"name": name}]}}).framework

    (refused,) = answers(pod(), [roomy()], config=config)

    assert refused is not None
    assert f'reading "PreFilter{name}" from cycleState: not found' in refused.text


def test_a_rule_left_out_altogether_needs_no_preparation() -> None:
    point = {"disabled": [{"name": "NodePorts"}]}
    config = profile(plugins={"preFilter": point, "filter": point}).framework
    spec = PodSpec(containers=(Container(name="c", host_ports=(HostPort(port=80),)),))

    assert answers(pod(spec), [roomy()], config=config) == [None]


# What keeps a scheduler from starting


def test_extenders_that_may_fail_are_called_last() -> None:
    extenders = [
        {"urlPrefix": "a", "ignorable": True},
        {"urlPrefix": "b"},
        {"urlPrefix": "c", "ignorable": True},
        {"urlPrefix": "d"},
    ]

    assert [each.url_prefix for each in started(extenders=extenders).extenders] == list("bdac")


@pytest.mark.parametrize(
    ("fields", "text", "path"),
    [
        (
            {"plugins": {"filter": {"enabled": [{"name": "Mine"}]}}},
            (
                "initializing profiles: creating profile for scheduler name a: "
                'FilterPlugin "Mine" does not exist'
            ),
            ("profiles", 0, "plugins", "filter", "enabled", 0),
        ),
        (
            {"pluginConfig": fit(scoringStrategy={"type": "Foo"})},
            (
                "initializing profiles: creating profile for scheduler name a: initializing plugin "
                '"NodeResourcesFit": scoringStrategy.type: Unsupported value: "Foo": supported values: '
                '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'
            ),
            ("profiles", 0, "pluginConfig"),
        ),
    ],
)
def test_a_profile_that_cannot_be_is_told_with_its_place(
    fields: dict[str, Any], text: str, path: tuple[str | int, ...]
) -> None:
    with pytest.raises(CannotSetUp) as caught:
        profile(**fields)

    assert (caught.value.text, caught.value.path) == (text, path)


def test_extenders_cannot_ignore_resources_for_a_profile_without_the_rule() -> None:
    without = {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}

    with pytest.raises(CannotSetUp, match="can't find NodeResourcesFitArgs in plugin config"):
        started(profiles=[{"schedulerName": "a", "plugins": without}], extenders=managing("a.b/c"))


def test_an_extender_that_cannot_be_reached_safely_is_refused() -> None:
    both = "specifying a root certificates file with the insecure flag is not allowed"

    assert tls_fault(insecure=True, ca_file="/ca") == both
    assert tls_fault(("/ca",), ca_file="/ca") == "open /ca: no such file or directory"
    assert tls_fault(("/key",), cert_file="/cert", key_file="/key").startswith("open /key: ")
    assert tls_fault(ca_data=b"foo").endswith("unable to parse bytes as PEM block")
    assert tls_fault(cert_data=b"foo", key_file="/key").endswith("PEM data in certificate input")
    assert tls_fault(cert_file="/cert", key_data=b"foo").endswith("PEM data in key input")


def test_what_is_tried_where_nothing_fits_is_as_the_profile_says() -> None:
    plain = profile()
    args = {"minCandidateNodesPercentage": 1, "minCandidateNodesAbsolute": 2}
    few = profile(pluginConfig=[{"name": "DefaultPreemption", "args": args}])
    off = {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}
    without = profile(plugins=off)

    assert plain.framework.preemption == DefaultPreemptionArgs(10, 100)
    assert plain.framework.post_filters == ("DynamicResources", "DefaultPreemption")
    assert few.framework.preemption == DefaultPreemptionArgs(1, 2)
    assert without.framework.post_filters == ("DynamicResources",)


def test_default_constraints_are_read_with_what_they_leave_out() -> None:
    args = {
        "defaultingType": "List",
        "defaultConstraints": [
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            {
                "maxSkew": 1,
                "topologyKey": "host",
                "whenUnsatisfiable": "ScheduleAnyway",
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
            },
        ],
    }

    found = profile(pluginConfig=[{"name": "PodTopologySpread", "args": args}])

    assert found.framework.default_spread == (
        SpreadConstraint(max_skew=2, topology_key="zone"),
        SpreadConstraint(
            max_skew=1,
            topology_key="host",
            is_hard=False,
            honors_affinity=False,
            honors_taints=True,
        ),
    )


def test_the_built_in_default_constraints_exclude_no_node() -> None:
    assert not any(each.is_hard for each in profile().framework.default_spread)

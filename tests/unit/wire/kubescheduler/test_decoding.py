"""Strict decoding, where the recordings leave a case open."""

import pytest

from springtide.model.plugin_arguments import NodeResourcesFitArgs
from springtide.model.scheduler import SchedulerConfiguration
from springtide.wire.kubescheduler import Complaint, from_json, from_text

HEADER = '"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"'


def decoded(fields: str) -> SchedulerConfiguration:
    return from_text("{" + HEADER + (f", {fields}" if fields else "") + "}")


def complaint(text: str) -> str:
    with pytest.raises(Complaint) as caught:
        from_text(text)
    return caught.value.text


def fields_complaint(fields: str) -> str:
    return complaint("{" + HEADER + f", {fields}" + "}")


def arguments_complaint(name: str, args: str) -> str:
    return fields_complaint(
        f'"profiles": [{{"pluginConfig": [{{"name": "{name}", "args": {args}}}]}}]'
    )


def test_an_empty_configuration_has_one_profile_with_all_defaults() -> None:
    configuration = decoded("")

    (profile,) = configuration.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert isinstance(profile.arguments("NodeResourcesFit"), NodeResourcesFitArgs)
    assert configuration.parallelism == 16


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            '"profiles": [{"plugins": {"filter": {"enabled": [{"weight": "x"}]}}}]',
            (
                "json: cannot unmarshal string into Go struct field Plugin.profiles.plugins.filter.enabled.weight"
                " of type int32"
            ),
        ),
        (
            '"leaderElection": []',
            (
                "json: cannot unmarshal array into Go struct field KubeSchedulerConfiguration.leaderElection"
                " of type v1alpha1.LeaderElectionConfiguration"
            ),
        ),
        (
            '"profiles": [3]',
            (
                "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles"
                " of type v1.KubeSchedulerProfile"
            ),
        ),
        (
            '"extenders": [{"weight": 9223372036854775808}]',
            (
                "json: cannot unmarshal number 9223372036854775808 into Go struct field"
                " Extender.extenders.weight of type int64"
            ),
        ),
        ('"extenders": [{"httpTimeout": "5"}]', 'time: missing unit in duration "5"'),
        (
            '"profiles": [{"schedulerName": "a", "schedulerName": "b"}], "x": 1',
            'strict decoding error: duplicate field "profiles[0].schedulerName", unknown field "x"',
        ),
        (
            '"x": 1, "parallelism": "1"',
            (
                "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism"
                " of type int32"
            ),
        ),
    ],
)
def test_complaints_are_those_of_go(fields: str, text: str) -> None:
    assert fields_complaint(fields) == text


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        (
            "NodeResourcesFit",
            '{"scoringStrategy": {"type": 1}}',
            (
                "json: cannot unmarshal number into Go struct field"
                " ScoringStrategy.scoringStrategy.type of type v1.ScoringStrategyType"
            ),
        ),
        (
            "VolumeBinding",
            '{"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}',
            'no kind "VolumeBindingArgs" is registered for version "kubescheduler.config.k8s.io/v1beta3"',
        ),
        (
            "NodeAffinity",
            '{"kind": "Pod"}',
            'no kind "Pod" is registered for version "kubescheduler.config.k8s.io/v1"',
        ),
    ],
)
def test_a_complaint_about_arguments_names_the_plugin(name: str, args: str, text: str) -> None:
    where = f"decoding .profiles[0].pluginConfig[0]: decoding args for plugin {name}: "

    assert arguments_complaint(name, args) == where + text


def test_arguments_of_an_unknown_plugin_are_kept_as_they_are() -> None:
    configuration = decoded(
        '"profiles": [{"pluginConfig": [{"name": "Mine", "args": {"a": [1.5]}}]}]'
    )

    assert configuration.profiles[0].plugin_config[0].args == {"a": [1.5]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "kind: KubeSchedulerConfiguration\n",
            "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'",
        ),
        (
            "apiVersion: v1\nkind: KubeSchedulerConfiguration\n",
            'no kind "KubeSchedulerConfiguration" is registered for version "v1"',
        ),
        (
            "apiVersion: a/b/c\nkind: KubeSchedulerConfiguration\n",
            "couldn't get version/kind; json parse error: unexpected GroupVersion string: a/b/c",
        ),
        (
            '{"kind": 3}',
            (
                "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct"
                " field .kind of type string"
            ),
        ),
    ],
)
def test_another_version_or_kind_is_refused(text: str, reason: str) -> None:
    assert complaint(text) == reason


def test_fields_of_a_yaml_document_are_told_by_name() -> None:
    data = ("{" + HEADER + ', "z": 1, "a": 2}').encode()

    with pytest.raises(Complaint) as in_order:
        from_json(data)
    with pytest.raises(Complaint) as by_name:
        from_json(data, is_yaml=True)

    assert in_order.value.path == ("z",)
    assert by_name.value.path == ("a",)

"""The bytes of the metrics APIs, as clients in Go read them."""

from decimal import Decimal
from typing import Final

import pytest

from springtide.wire import metrics_api
from springtide.wire.metrics_api import Group, Resource, Subject

UNIX_S: Final = 1_767_322_845.9
GROUP: Final = Group(
    name="external.metrics.k8s.io",
    version="v1beta1",
    resources=(Resource(name="hpa_expect_replicas", kind="ExternalMetricValueList"),),
)
CUSTOM: Final = Group(
    name="custom.metrics.k8s.io",
    version="v1beta2",
    resources=(
        Resource(name="replicas", kind="MetricValueList", of="statefulsets.apps"),
        Resource(name="load", kind="MetricValueList", of="statefulsets.apps"),
    ),
)
VERSION: Final = '{"groupVersion":"external.metrics.k8s.io/v1beta1","version":"v1beta1"}'


def test_an_external_value() -> None:
    made = metrics_api.external_list(
        "hpa_expect_replicas", Decimal(12), labels={"hpa_target_name": "chat"}, unix_s=UNIX_S
    )

    assert made.decode() == (
        '{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1",'
        '"metadata":{},"items":[{"metricName":"hpa_expect_replicas",'
        '"metricLabels":{"hpa_target_name":"chat"},"timestamp":"2026-01-02T03:00:45Z","window":0,'
        '"value":"12"}]}'
    )


def test_a_custom_value() -> None:
    subject = Subject(kind="StatefulSet", namespace="game", name="chat", api_version="apps/v1")

    made = metrics_api.custom_list("replicas", Decimal(12), subject=subject, unix_s=UNIX_S)

    assert made.decode() == (
        '{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},'
        '"items":[{"describedObject":{"kind":"StatefulSet","namespace":"game","name":"chat",'
        '"apiVersion":"apps/v1"},"metric":{"name":"replicas","selector":null},'
        '"timestamp":"2026-01-02T03:00:45Z","windowSeconds":0,"value":"12"}]}'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("12", "12"),
        ("1000", "1000"),
        ("10.001", "10001m"),
        ("10.0001", "10001m"),
        ("1e-07", "1m"),
        ("9200000000000000", "9200000000000000"),
    ],
)
def test_a_quantity_is_exact_or_rounded_up(value: str, text: str) -> None:
    assert metrics_api.quantity_text(Decimal(value)) == text


def test_discovery_in_its_plain_form() -> None:
    listed = metrics_api.api_group_list([GROUP]).decode()
    group = metrics_api.api_group(GROUP).decode()
    resources = metrics_api.resource_list(GROUP).decode()

    assert listed == (
        '{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"external.metrics.k8s.io",'
        f'"versions":[{VERSION}],"preferredVersion":{VERSION}}}]}}'
    )
    assert group == (
        '{"kind":"APIGroup","apiVersion":"v1","name":"external.metrics.k8s.io",'
        f'"versions":[{VERSION}],"preferredVersion":{VERSION}}}'
    )
    assert resources == (
        '{"kind":"APIResourceList","apiVersion":"v1",'
        '"groupVersion":"external.metrics.k8s.io/v1beta1","resources":[{'
        '"name":"hpa_expect_replicas","singularName":"","namespaced":true,'
        '"kind":"ExternalMetricValueList","verbs":["get"]}]}'
    )


def test_discovery_in_its_aggregated_form() -> None:
    made = metrics_api.discovery_list([GROUP]).decode()

    assert made == (
        '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},'
        '"items":[{"metadata":{"name":"external.metrics.k8s.io","creationTimestamp":null},'
        '"versions":[{"version":"v1beta1","resources":[{"resource":"hpa_expect_replicas",'
        '"responseKind":{"group":"external.metrics.k8s.io","version":"v1beta1",'
        '"kind":"ExternalMetricValueList"},"scope":"Namespaced","singularResource":"",'
        '"verbs":["get"]}],"freshness":"Current"}]}]}'
    )


def test_metrics_of_objects_are_below_their_resource() -> None:
    resources = metrics_api.resource_list(CUSTOM).decode()
    aggregated = metrics_api.discovery_list([CUSTOM]).decode()

    assert '"name":"statefulsets.apps/replicas"' in resources
    assert aggregated.count('"resource":"statefulsets.apps"') == 1
    assert aggregated.count('"subresource":') == 2


@pytest.mark.parametrize(
    ("accept", "wants"),
    [
        (metrics_api.AGGREGATED_TYPE, True),
        (
            "text/html, application/json; as=APIGroupDiscoveryList; g=apidiscovery.k8s.io; v=v2",
            True,
        ),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", False),
        ("application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2", False),
        ("application/json", False),
        ("", False),
    ],
)
def test_the_aggregated_form_goes_to_those_who_ask_for_it(accept: str, *, wants: bool) -> None:
    assert metrics_api.wants_aggregated(accept) is wants


def test_a_refusal() -> None:
    made = metrics_api.status("No.", 503).decode()

    assert made == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"No.",'
        '"reason":"ServiceUnavailable","details":{},"code":503}'
    )

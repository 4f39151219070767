"""Configurations of the adapter: what is left out is safe, and what is wrong is told by its field."""

from typing import Any

import pytest

from springtide.wire import yaml
from springtide.wire.crd.adapter import AdapterDocument, read_adapter
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

HEAD = "apiVersion: springtide.io/v1alpha1\nkind: ReplicasAdapterConfiguration\n"
TLS = "tls: {certFile: a, keyFile: b}\n"
SOURCE = "prometheus: {url: http://prometheus:9090}\n"


def read(text: str) -> AdapterDocument:
    """Return the document of a text."""
    (found,) = yaml.documents(text.encode(), "adapter.yaml")
    value: Any = found.value
    return read_adapter(value, origin=Origin(source="adapter.yaml", document=found))


def test_what_is_left_out_serves_both_metrics_safely() -> None:
    document = read(HEAD + TLS + SOURCE)

    expected, index = document.metrics
    assert (expected.name, expected.checks_members) == ("hpa_expect_replicas", False)
    assert (index.name, index.checks_members) == ("hpa_stateful_index", True)
    assert expected.names == ("hpa_expect_replicas", "hpa_expect_replicas_count")
    assert document.front_proxy == "required"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("kind: Other\n" + TLS + SOURCE, "kind"),
        (HEAD + SOURCE, "tls.certFile"),
        (HEAD + "tls: {certFile: a}\n" + SOURCE, "tls.keyFile"),
        (HEAD + TLS, "prometheus"),
        (HEAD + TLS + "prometheus: {url: prometheus}\n", "prometheus.url"),
        (HEAD + TLS + "prometheus: {url: 'http://[x'}\n", "prometheus.url"),
        (HEAD + TLS + "prometheus: {url: http://a, timeout: soon}\n", "prometheus.timeout"),
        (HEAD + TLS + "prometheus: {url: http://a, timeout: 0s}\n", "prometheus.timeout"),
        (HEAD + TLS + "prometheus: {url: http://a, queries: 0}\n", "prometheus.queries"),
        (HEAD + TLS + "prometheus: {uri: http://a}\n", "prometheus.uri"),
        (HEAD + TLS + SOURCE + "upstream: {url: keda}\n", "upstream.url"),
        (HEAD + TLS + SOURCE + "requestTimeout: -1s\n", "requestTimeout"),
        (HEAD + TLS + SOURCE + "metrics: []\n", "metrics"),
        (HEAD + TLS + SOURCE + "metrics: [{name: a}, {name: a}]\n", "metrics[1].name"),
        (HEAD + TLS + SOURCE + "metrics: [{name: a/b}]\n", "metrics[0].name"),
        (HEAD + TLS + SOURCE + "metrics: [{name: a-b}]\n", "metrics[0].series"),
        (HEAD + TLS + SOURCE + "metrics: [{name: a, maxAge: 0s}]\n", "metrics[0].maxAge"),
        (
            HEAD + TLS + SOURCE + "metrics: [{name: a, role: index, aggregator: sum}]\n",
            "metrics[0].aggregator",
        ),
        (
            HEAD + TLS + SOURCE + "metrics: [{name: a, requiredSelector: []}]\n",
            "metrics[0].requiredSelector",
        ),
        (
            HEAD + TLS + SOURCE + "metrics: [{name: a, role: index, requiredSelector: [b]}]\n",
            "metrics[0].object.nameLabel",
        ),
        (
            HEAD + TLS + SOURCE + 'metrics: [{name: a, namespaceLabel: "a b"}]\n',
            "metrics[0].namespaceLabel",
        ),
        (HEAD + TLS + SOURCE + "metrics: [{name: a, role: max}]\n", "metrics[0].role"),
        (
            HEAD + TLS + SOURCE + "metrics: [{name: a, coverage: records}]\n",
            "metrics[0].coverage",
        ),
    ],
)
def test_what_is_wrong_is_told_by_its_field(text: str, field: str) -> None:
    with pytest.raises(InvalidDocument) as told:
        read(text)

    assert told.value.field == field

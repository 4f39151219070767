"""Configurations of the guard: what is left out is safe, and what is wrong is told by its field."""

from typing import Any

import pytest

from springtide.wire import yaml
from springtide.wire.crd.guard import GuardDocument, read_guard
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

HEAD = "apiVersion: springtide.io/v1alpha1\nkind: ReplicasGuardConfiguration\n"
TLS = "tls: {certFile: a, keyFile: b}\n"
SOURCE = "prometheus: {url: http://prometheus:9090}\n"
WHOLE = HEAD + TLS + SOURCE


def read(text: str) -> GuardDocument:
    """Return the document of a text."""
    (found,) = yaml.documents(text.encode(), "guard.yaml")
    value: Any = found.value
    return read_guard(value, origin=Origin(source="guard.yaml", document=found))


def test_what_is_left_out_exempts_nobody_but_the_masters() -> None:
    document = read(WHOLE)

    assert (document.exempt.users, document.exempt.groups) == ((), ("system:masters",))
    assert document.mark == "springtide.io/guard-replicas"
    assert document.index.checks_members


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("kind: Other\n" + TLS + SOURCE, "kind"),
        (HEAD + SOURCE, "tls.certFile"),
        (HEAD + TLS, "prometheus"),
        (HEAD + TLS + "prometheus: {url: prometheus}\n", "prometheus.url"),
        (HEAD + TLS + "prometheus: {url: http://a, queries: 0}\n", "prometheus.queries"),
        (WHOLE + "requestTimeout: 0s\n", "requestTimeout"),
        (WHOLE + "shutdownDelay: soon\n", "shutdownDelay"),
        (WHOLE + "index: {name: a}\n", "index.role"),
        (WHOLE + "index: {name: a, role: index, requiredSelector: [b, c]}\n", "index.object.nameLabel"),
        (
            WHOLE + "index: {name: a, role: index, requiredSelector: [hpa_target_name, c]}\n",
            "index.requiredSelector",
        ),
        (WHOLE + "exempt: {users: ['']}\n", "exempt.users"),
        (WHOLE + "exempt: {people: [me]}\n", "exempt.people"),
        (WHOLE + "mark: a/b/c\n", "mark"),
        (WHOLE + "mark: ''\n", "mark"),
        (WHOLE + "workloads: [{namespace: '', name: a}]\n", "workloads[0].namespace"),
        (WHOLE + "workloads: [{namespace: a, name: ''}]\n", "workloads[0].name"),
        (WHOLE + "workloads: [{namespace: a, name: b, kind: Pod}]\n", "workloads[0].kind"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_field(text: str, field: str) -> None:
    with pytest.raises(InvalidDocument) as told:
        read(text)

    assert told.value.field == field


def test_too_many_are_refused() -> None:
    listed = ", ".join(f"{{namespace: a, name: b{each}}}" for each in range(10_001))
    users = ", ".join(f"u{each}" for each in range(1001))

    for text, field in (
        (f"workloads: [{listed}]", "workloads"),
        (f"exempt: {{users: [{users}]}}", "exempt.users"),
    ):
        with pytest.raises(InvalidDocument) as told:
            read(WHOLE + text + "\n")
        assert told.value.field == field

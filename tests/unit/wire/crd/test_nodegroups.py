"""NodeGroups documents: what they say, and what is refused."""

import pytest

from springtide.base import quantity
from springtide.base.taints import Taint
from springtide.model.group import NodeGroup
from springtide.wire.documents import Input, decode
from springtide.wire.errors import InvalidDocument
from springtide.wire.source import Source

HEAD = "apiVersion: springtide.io/v1alpha1\nkind: NodeGroups\ngroups:\n"


def read(*groups: str) -> Input:
    text = HEAD + "".join(f"- {group}\n" for group in groups)
    return decode([Source("groups.yaml", text.encode())])


def group(text: str) -> NodeGroup:
    return read(text).groups[0]


def fault(*groups: str) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        read(*groups)
    return caught.value


def test_every_field_of_a_group_is_read() -> None:
    found = group(
        "{name: a, providerIdPattern: 'cloud:///a/.*', nodeSelector: {matchLabels: {pool: a}},"
        " minSize: 1, maxSize: 8, size: 2, price: 3.5, priority: 7, homogeneity: Majority,"
        " ignoredTaints: [startup], zeroOrMax: true}"
    )

    assert found.selector is not None
    assert found.selector.matches({"pool": "a"})
    assert not found.selector.matches({"pool": "b"})
    assert found == NodeGroup(
        name="a",
        provider_id_pattern="cloud:///a/.*",
        selector=found.selector,
        min_size=1,
        max_size=8,
        size=2,
        price=3.5,
        priority=7,
        homogeneity="Majority",
        ignored_taints=("startup",),
        is_zero_or_max=True,
    )


def test_match_expressions_select_too() -> None:
    found = group(
        "{name: a, maxSize: 1,"
        " nodeSelector: {matchExpressions: [{key: pool, operator: In, values: [a, b]}]}}"
    )

    assert found.selector is not None
    assert found.selector.matches({"pool": "b"})


def test_a_template_is_a_node() -> None:
    found = group(
        "{name: a, maxSize: 1, template: {labels: {pool: a}, annotations: {x: z},"
        " taints: [{key: k, value: v, effect: NoSchedule}], capacity: {cpu: 96},"
        " allocatable: {cpu: 95500m, memory: 1Ti}}}"
    ).template

    assert found is not None
    assert found.labels == {"pool": "a"}
    assert found.taints == (Taint(key="k", value="v", effect="NoSchedule"),)
    assert dict(found.allocatable) == {
        "cpu": quantity.parse("95500m"),
        "memory": quantity.parse("1Ti"),
        "pods": quantity.parse("110"),
    }
    assert dict(found.capacity)["cpu"] == quantity.parse("96")
    assert found.is_ready


def test_allocatable_defaults_to_capacity() -> None:
    found = group("{name: a, maxSize: 1, template: {capacity: {cpu: 96, pods: 250}}}").template

    assert found is not None
    assert found.allocatable == found.capacity
    assert dict(found.allocatable)["pods"] == quantity.parse("250")


def test_a_size_above_the_maximum_is_reported() -> None:
    found = read("{name: a, maxSize: 2, size: 5, providerIdPattern: x}")

    assert found.groups[0].size == 5
    assert found.problems[0].object == "NodeGroup/a"
    assert found.problems[0].field == "size"


def test_an_unknown_profile_is_reported() -> None:
    found = read("{name: a, maxSize: 2, profile: nope, providerIdPattern: x}")

    assert found.problems[0].field == "profile"


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ("maxsize: 5", "maxsize", 'there is no such field; did you mean "maxSize"?'),
        ("homogeneity: strict", "homogeneity", '"strict" is not one of the choices; did you mean'),
        ("size: '3'", "size", "this is a text where a whole number belongs; correct it."),
        ("minSize: -1", "minSize", "-1 is below 0"),
        ("size: -1", "size", "-1 is below 0"),
        ("minSize: 9", "minSize", "9 is above maxSize, 4"),
        ("price: -1", "price", "-1.0 is below 0"),
        ("providerIdPattern: '['", "providerIdPattern", "this is not a regular expression"),
        ("nodeSelector: {}", "nodeSelector", "this selects every node"),
        (
            "nodeSelector: {matchExpressions: [{key: a, operator: Maybe}]}",
            "nodeSelector",
            '"Maybe" is not a valid label selector operator',
        ),
        ("template: {labels: {a: 5}}", 'template.labels["a"]', "put it in quotes"),
        ("template: {capacity: {cpu: 1x}}", 'template.capacity["cpu"]', '"1x" is not a quantity'),
        ("template: {capacity: {cpu: -1}}", 'template.capacity["cpu"]', "-1 is below 0"),
        ("template: {taints: [{key: a}]}", "template.taints[0].effect", "required and missing"),
        (
            "template: {taints: [{key: a, effect: NoScedule}]}",
            "template.taints[0].effect",
            'did you mean "NoSchedule"?',
        ),
        ("template: []", "template", "this is a list where a map belongs; correct it."),
        ("name: ''", "name", "the name is empty"),
        ("template: {taint: []}", "template.taint", 'did you mean "taints"?'),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(fields: str, field: str, reason: str) -> None:
    name = "" if fields.startswith("name:") else "name: a, "

    found = fault(f"{{{name}maxSize: 4, {fields}}}")

    assert found.field == f"groups[0].{field}"
    assert reason in found.reason
    assert found.line == 4


def test_a_group_without_a_maximum_is_refused() -> None:
    found = fault("{name: a, providerIdPattern: x}")

    assert found.field == "groups[0].maxSize"


def test_a_group_that_nothing_belongs_to_is_refused() -> None:
    assert "nothing says which nodes belong to it" in fault("{name: a, maxSize: 1}").reason


def test_a_name_given_twice_is_refused_with_its_line() -> None:
    one = "{name: a, maxSize: 1, providerIdPattern: x}"

    found = fault(one, one)

    assert (found.field, found.line) == ("groups[1].name", 5)


def test_a_name_given_twice_in_two_documents_is_refused() -> None:
    text = HEAD + "- {name: a, maxSize: 1, providerIdPattern: x}\n"

    with pytest.raises(InvalidDocument, match="is given twice"):
        decode([Source("a.yaml", text.encode()), Source("b.yaml", text.encode())])


def test_another_version_is_refused() -> None:
    text = "apiVersion: springtide.io/v2\nkind: NodeGroups\ngroups: []\n"

    with pytest.raises(InvalidDocument, match="apiVersion"):
        decode([Source("a.yaml", text.encode())])


def test_a_misspelt_kind_is_refused_with_the_nearest() -> None:
    text = "apiVersion: springtide.io/v1alpha1\nkind: NodeGroup\ngroups: []\n"

    with pytest.raises(InvalidDocument, match='did you mean "NodeGroups"'):
        decode([Source("a.yaml", text.encode())])

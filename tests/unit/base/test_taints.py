"""Tolerations: the vectors of the specification, down at the matcher."""

import pytest

from springtide.base.taints import Taint, Toleration, first_untolerated, tolerates

USER1 = Taint(key="dedicated", value="user1")
USER2 = Taint(key="dedicated", value="user2")
FOO = Taint(key="foo", value="bar")
SLA = Taint(key="sla", value="950")


def tolerating(
    key: str = "", operator: str = "", value: str = "", effect: str = "NoSchedule"
) -> Toleration:
    return Toleration(key=key, operator=operator, value=value, effect=effect)


TOLERATES_USER1 = tolerating("dedicated", "Equal", "user1")
TOLERATES_USER2 = tolerating("dedicated", "Equal", "user2")
TOLERATES_FOO = tolerating("foo", "Exists")

VECTORS = {
    "T1": ([USER1], [], None, 0),
    "T2": ([USER1], [TOLERATES_USER1], None, None),
    "T3": ([USER2], [TOLERATES_USER1], None, 0),
    "T4": ([FOO], [TOLERATES_FOO], None, None),
    "T5": ([USER2, FOO], [TOLERATES_USER2, TOLERATES_FOO], None, None),
    "T6": ([FOO], [tolerating("foo", "Equal", "bar", "PreferNoSchedule")], None, 0),
    "T7": ([FOO], [tolerating("foo", "Equal", "bar", "")], None, None),
    "T8": ([Taint(key="dedicated", value="user1", effect="PreferNoSchedule")], [], None, None),
    "T9": (
        [Taint(key="x", value="1", effect="NoExecute")],
        [Toleration(operator="Exists")],
        None,
        None,
    ),
    "T10": ([SLA], [tolerating("sla", "Gt", "900")], True, None),
    "T11": ([SLA], [tolerating("sla", "Lt", "900")], True, 0),
    "T12": ([SLA], [tolerating("sla", "Gt", "900")], False, 0),
    "T13": ([Taint(key="sla", value="0950")], [tolerating("sla", "Gt", "900")], True, 0),
    "T14": ([USER1, FOO], [TOLERATES_USER1], None, 1),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_first_untolerated_taint_is_found(name: str) -> None:
    taints, tolerations, numeric, expected = VECTORS[name]

    found = first_untolerated(taints, tolerations, numeric=bool(numeric))

    assert found == expected


@pytest.mark.parametrize(
    "value", ["+900", "0900", " 900", "900 ", "", "9e2", "-0", "9223372036854775808", "٩"]
)
def test_a_number_that_is_not_canonical_tolerates_nothing(value: str) -> None:
    toleration = tolerating("sla", "Gt", value)

    assert not tolerates(toleration, SLA, numeric=True)


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [("Gt", "-1", True), ("Lt", "-1", False), ("Lt", "951", True), ("Gt", "950", False)],
)
def test_the_value_of_the_taint_stands_on_the_left(
    operator: str,
    value: str,
    expected: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    toleration = tolerating("sla", operator, value)

    assert tolerates(toleration, SLA, numeric=True) is expected


def test_an_unknown_operator_tolerates_nothing() -> None:
    toleration = tolerating("foo", "exists")

    assert not tolerates(toleration, FOO)

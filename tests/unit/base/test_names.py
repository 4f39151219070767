"""Resource names and label syntax."""

import pytest

from springtide.base.labels import key_faults, value_faults
from springtide.base.names import is_extended_resource, is_scalar_resource


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "example.com/x", "huawei.com/Ascend910B4"])
def test_a_name_in_a_foreign_domain_is_extended(name: str) -> None:
    assert is_extended_resource(name)
    assert is_scalar_resource(name)


@pytest.mark.parametrize(
    "name",
    [
        "cpu",
        "foo",
        "kubernetes.io/x",
        "node.kubernetes.io/x",
        "requests.example.com/x",
        "example.com/",
        "/x",
        "Example.com/x",
        "a/b/c",
        "example.com/-x",
        f"example.com/{'x' * 64}",
        f"{'y' * 245}/x",
    ],
)
def test_other_names_are_not_extended(name: str) -> None:
    assert not is_extended_resource(name)


@pytest.mark.parametrize(
    "name", ["hugepages-2Mi", "attachable-volumes-csi-x", "kubernetes.io/x", "node.kubernetes.io/x"]
)
def test_some_native_names_are_counted_as_scalars(name: str) -> None:
    assert is_scalar_resource(name)


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage", "pods", "foo", ""])
def test_native_and_unknown_names_are_no_scalars(name: str) -> None:
    assert not is_scalar_resource(name)


@pytest.mark.parametrize("key", ["a", "app", "a.b-c_d", "example.com/role", f"{'y' * 253}/x"])
def test_a_valid_key_has_no_faults(key: str) -> None:
    assert key_faults(key) == ()


@pytest.mark.parametrize(
    ("key", "openings"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("example.com/", ["name part must be non-empty", "name part must consist of"]),
        ("/x", ["prefix part must be non-empty"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("x" * 64, ["name part must be no more than 63 bytes"]),
        ("UPPER.example.com/x", ["prefix part a lowercase RFC 1123 subdomain"]),
        (f"{'y' * 254}/x", ["prefix part must be no more than 253 bytes"]),
        ("ключ", ["name part must consist of"]),
        ("x\n", ["name part must consist of"]),
        ("\ud800", ["name part must consist of"]),
    ],
)
def test_every_fault_of_a_key_is_named(key: str, openings: list[str]) -> None:
    found = key_faults(key)

    assert [fault[: len(start)] for fault, start in zip(found, openings, strict=True)] == openings


@pytest.mark.parametrize("value", ["", "a", "A_b-c.d", "x" * 63])
def test_a_valid_value_has_no_faults(value: str) -> None:
    assert value_faults(value) == ()


@pytest.mark.parametrize(
    ("value", "count"), [("-x", 1), ("a b", 1), ("x" * 64, 1), ("я" * 32, 2), ("x\n", 1)]
)
def test_every_fault_of_a_value_is_named(value: str, count: int) -> None:
    assert len(value_faults(value)) == count

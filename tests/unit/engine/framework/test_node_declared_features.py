"""NodeDeclaredFeatures: what the pod needs must be among what the node declares."""

import pytest
from msgspec.structs import replace

from springtide.model.pod import PodSpec
from tests.unit.engine.framework.asking import answer, roomy, unresolvable

UNDECLARED = unresolvable("NodeDeclaredFeatures", "node(s) didn't match Pod's required features")


@pytest.mark.parametrize(
    ("required", "declared", "fits"),
    [
        ((), (), True),
        (("A",), ("A", "B"), True),
        (("A", "B"), ("A",), False),
        (("A",), (), False),
    ],
)
def test_a_node_must_declare_all_that_is_required(
    required: tuple[str, ...], declared: tuple[str, ...], *, fits: bool
) -> None:
    node = replace(roomy(), declared_features=frozenset(declared))

    refusal = answer(PodSpec(required_features=required), node)

    assert refusal == (None if fits else UNDECLARED)

"""TaintToleration and NodeUnschedulable by the table of taints and tolerations.

T10, T11 and T13 are about a gate that is off: they are asked of `first_untolerated` itself, with all
the other rows. The text of T14 names no taint, as recorded of 1.37; releases to 1.34 named the first.
"""

from collections.abc import Sequence

import pytest

from springtide.base.taints import Taint, Toleration
from springtide.model.node import Node
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import ROOM, answer, unresolvable

UNTOLERATED = unresolvable("TaintToleration", "node(s) had untolerated taint(s)")
CORDONED = unresolvable("NodeUnschedulable", "node(s) were unschedulable")


def taint(text: str) -> Taint:
    """Return a taint from `key=value:Effect`."""
    pair, effect = text.split(":")
    key, value = pair.split("=")
    return Taint(key=key, value=value, effect=effect)


def tolerate(key: str, operator: str = "Equal", value: str = "", effect: str = "") -> Toleration:
    return Toleration(key=key, operator=operator, value=value, effect=effect)


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        pytest.param(["dedicated=user1:NoSchedule"], [], UNTOLERATED, id="T1"),
        pytest.param(
            ["dedicated=user1:NoSchedule"],
            [tolerate("dedicated", "Equal", "user1", "NoSchedule")],
            None,
            id="T2",
        ),
        pytest.param(
            ["dedicated=user2:NoSchedule"],
            [tolerate("dedicated", "Equal", "user1", "NoSchedule")],
            UNTOLERATED,
            id="T3",
        ),
        pytest.param(
            ["foo=bar:NoSchedule"], [tolerate("foo", "Exists", "", "NoSchedule")], None, id="T4"
        ),
        pytest.param(
            ["dedicated=user2:NoSchedule", "foo=bar:NoSchedule"],
            [tolerate("dedicated", "Equal", "user2"), tolerate("foo", "Exists")],
            None,
            id="T5",
        ),
        pytest.param(
            ["foo=bar:NoSchedule"],
            [tolerate("foo", "Equal", "bar", "PreferNoSchedule")],
            UNTOLERATED,
            id="T6",
        ),
        pytest.param(["foo=bar:NoSchedule"], [tolerate("foo", "Equal", "bar")], None, id="T7"),
        pytest.param(["dedicated=user1:PreferNoSchedule"], [], None, id="T8"),
        pytest.param(["x=1:NoExecute"], [tolerate("", "Exists")], None, id="T9"),
        pytest.param(["sla=950:NoSchedule"], [tolerate("sla", "Gt", "900")], UNTOLERATED, id="T12"),
        pytest.param(
            ["a=1:NoSchedule", "b=1:NoExecute"], [tolerate("a", "Exists")], UNTOLERATED, id="T14"
        ),
        pytest.param(
            ["a=1:NoSchedule"],
            [tolerate("", "Exists", effect="NoExecute"), tolerate("a", "Exists")],
            None,
            id="a key beside none",
        ),
    ],
)
def test_repelling_taints_must_all_be_tolerated(
    taints: Sequence[str], tolerations: Sequence[Toleration], expected: Refusal | None
) -> None:
    node = Node(name="node", taints=tuple(map(taint, taints)), allocatable=ROOM)

    assert answer(PodSpec(tolerations=tuple(tolerations)), node) == expected


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        pytest.param([], CORDONED, id="none"),
        pytest.param([tolerate("node.kubernetes.io/unschedulable", "Exists")], None, id="T15"),
        pytest.param([tolerate("", "Exists")], None, id="of everything"),
        pytest.param(
            [tolerate("node.kubernetes.io/unschedulable", "Exists", effect="NoExecute")],
            CORDONED,
            id="of another effect",
        ),
    ],
)
def test_a_cordoned_node_takes_pods_that_tolerate_it(
    tolerations: Sequence[Toleration], expected: Refusal | None
) -> None:
    node = Node(name="node", is_unschedulable=True, allocatable=ROOM)

    assert answer(PodSpec(tolerations=tuple(tolerations)), node) == expected

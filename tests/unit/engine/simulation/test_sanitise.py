"""What a template does not inherit from its node."""

import pytest

from springtide.base.taints import Taint
from springtide.engine.simulation.sanitise import REMOVED_TAINTS, sanitised
from tests.builders import cards, node


@pytest.mark.parametrize(
    "key",
    [
        *sorted(REMOVED_TAINTS),
        "startup-taint.cluster-autoscaler.kubernetes.io/cni",
        "status-taint.cluster-autoscaler.kubernetes.io/draining",
        "ignore-taint.cluster-autoscaler.kubernetes.io/old",
    ],
)
def test_passing_taints_go(key: str) -> None:
    origin = node(taints=[Taint(key=key), Taint(key="gpu", value="a10")])

    assert sanitised(origin, "new").taints == (Taint(key="gpu", value="a10"),)


@pytest.mark.parametrize(
    "key", ["gpu", "node.kubernetes.io/out-of-service", "my.startup-taint.example.com/x"]
)
def test_lasting_taints_stay(key: str) -> None:
    origin = node(taints=[Taint(key=key, effect="NoExecute")])

    assert sanitised(origin, "new").taints == origin.taints


def test_taints_that_operators_name_go() -> None:
    origin = node(taints=[Taint(key="recycle"), Taint(key="recycle/x")])

    assert sanitised(origin, "new", ignored_taints=("recycle",)).taints == (Taint(key="recycle/x"),)


def test_labels_stay_but_for_the_hostname() -> None:
    origin = node("old", labels={"kubernetes.io/hostname": "old", "zone": "a"})

    assert sanitised(origin, "new").labels == {
        "kubernetes.io/hostname": "new",
        "zone": "a",
        "cluster-autoscaler.kubernetes.io/template-node": "true",
    }


def test_a_new_node_is_nobodys_and_ready() -> None:
    origin = node("old", provider_id="cloud://old", is_ready=False, is_unschedulable=True)

    fresh = sanitised(origin, "new")

    assert (fresh.name, fresh.uid, fresh.provider_id, fresh.created) == ("new", "", "", "")
    assert fresh.is_ready
    assert not fresh.is_unschedulable


def test_capacity_and_annotations_are_kept_as_they_are() -> None:
    origin = node(others={"example.com/x": 3}, cards=cards(1), annotations={"a": "b"})

    fresh = sanitised(origin, "new")

    assert (fresh.capacity, fresh.allocatable) == (origin.capacity, origin.allocatable)
    assert fresh.annotations == origin.annotations

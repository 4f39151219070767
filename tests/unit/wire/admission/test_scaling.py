"""Reviews of replicas: what is asked about which workload."""

import pytest

from springtide.wire.admission import MalformedReview, Scaling, Workload, read_scaling
from springtide.wire.errors import MalformedObject
from tests.reviews import maximum, review, scaled

CHAT = Workload(kind="StatefulSet", namespace="game", name="chat")


def told(found: Scaling) -> tuple[Workload | None, int | None, int]:
    """Return what is asked about."""
    return found.workload, found.before, found.after


def test_a_scale_tells_who_wants_how_many() -> None:
    found = read_scaling(scaled(12, 8, user="somebody", groups=("a", "b")))

    assert told(found) == (CHAT, 12, 8)
    assert (found.user, found.groups, found.review.uid) == ("somebody", ("a", "b"), "r1")
    assert found.autoscaler == ""


def test_a_scale_leaves_a_zero_out_and_a_workload_stands_for_one() -> None:
    emptied = read_scaling(scaled(12, 0))
    unsaid = read_scaling(
        review("deployments", name="web", old={"spec": {"replicas": 4}}, new={"spec": {}})
    )

    assert told(emptied) == (CHAT, 12, 0)
    web = Workload(kind="Deployment", namespace="game", name="web")
    assert told(unsaid) == (web, 4, 1)
    assert web.resource == "deployments"


def test_an_autoscaler_is_about_its_workload() -> None:
    lowered = read_scaling(maximum(8, before=40))
    made = read_scaling(maximum(8))
    moved = read_scaling(maximum(8, before=40, target="lobby"))

    assert told(lowered) == (CHAT, 40, 8)
    assert lowered.autoscaler == "scaler"
    assert told(made) == (CHAT, None, 8)
    assert told(moved) == (Workload(kind="StatefulSet", namespace="game", name="lobby"), None, 8)


@pytest.mark.parametrize(
    "data",
    [
        review("pods", name="a", old={}, new={}),
        review("statefulsets", name="a", old={"spec": {"replicas": 3}}, new=None, operation="DELETE"),
        review("statefulsets", name="a", old=None, new={"spec": {"replicas": 3}}, operation="CREATE"),
        maximum(8, kind="Rollout", version="argoproj.io/v1alpha1"),
        maximum(8, version="other.io/v1"),
        maximum(8, before=40, sub="status"),
    ],
    ids=["another resource", "a deletion", "a creation", "another kind", "another group", "a status"],
)  # fmt: skip
def test_other_questions_are_about_no_workload(data: bytes) -> None:
    assert read_scaling(data).workload is None


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"kind": "AdmissionReview"}', b"\xff"])
def test_what_is_no_review_is_told(data: bytes) -> None:
    with pytest.raises(MalformedReview):
        read_scaling(data)


@pytest.mark.parametrize(
    "data",
    [
        review("statefulsets", name="a", old={"spec": {"replicas": "x"}}, new={"spec": {}}),
        maximum(8, target=""),
    ],
)
def test_an_object_that_makes_no_sense_is_told(data: bytes) -> None:
    with pytest.raises(MalformedObject):
        read_scaling(data)

"""What an unmodified kube-scheduler and kube-apiserver ask is understood, byte for byte as they sent it."""

from pathlib import Path

import pytest

from springtide.wire.admission import creation, read_review
from springtide.wire.extender import read_binding, read_candidates
from springtide.wire.k8s import Parts

CALLS = Path(__file__).parents[2] / "recorded" / "kube-extender-calls"
NODES = ["gpu-1", "gpu-2"]


def body(name: str) -> bytes:
    """Return the body of a recorded call."""
    return (CALLS / f"{name}.json").read_bytes()


@pytest.mark.parametrize("form", ["names", "nodes"])
def test_a_filter_call_is_understood(form: str) -> None:
    candidates = read_candidates(body(f"{form}-filter"), Parts())

    assert candidates.pod.key == f"default/{form}"
    assert sorted(candidates.names) == NODES
    assert (candidates.objects is None) == (form == "names")


def test_a_bind_call_is_understood() -> None:
    arguments = read_binding(body("bind"))

    assert (arguments.namespace, arguments.name) == ("default", "names")
    assert arguments.uid
    assert arguments.node in NODES


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_review_is_understood(version: str) -> None:
    review = read_review(body(f"review-{version}"))

    assert review.version == f"admission.k8s.io/{version}"
    assert review.is_creation
    assert creation(review, Parts()).pod.key == "default/asking"

"""A guard never lets replicas with state be taken away, and nothing that is sent to it is a surprise."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.guard import Change, GuardReason, Unknown, verdict
from springtide.wire.admission import MalformedReview, read_scaling
from springtide.wire.errors import MalformedObject
from tests.reviews import GROUPS

COUNTS = st.integers(0, 50)
FLOORS = st.one_of(
    COUNTS, st.builds(Unknown, reason=st.just(GuardReason.FLOOR_UNKNOWN), why=st.text())
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECTS = ANYTHING | st.fixed_dictionaries(
    {"spec": ANYTHING | st.fixed_dictionaries({}, optional={
        "replicas": ANYTHING,
        "maxReplicas": ANYTHING,
        "scaleTargetRef": ANYTHING | st.fixed_dictionaries({}, optional={
            "kind": st.just("StatefulSet") | ANYTHING,
            "name": ANYTHING,
            "apiVersion": st.just("apps/v1") | ANYTHING,
        }),
    })}
)  # fmt: skip
REQUESTS = st.fixed_dictionaries(
    {"uid": st.just("r1")},
    optional={
        "name": st.text(max_size=5),
        "operation": st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
        "resource": st.sampled_from(
            [{"group": group, "resource": name} for name, group in GROUPS.items()]
        ),
        "subResource": st.sampled_from(["", "scale", "status"]),
        "userInfo": ANYTHING | st.just({"username": "somebody", "groups": None}),
        "object": OBJECTS,
        "oldObject": OBJECTS,
    },
)


@given(before=COUNTS, after=COUNTS, floor=FLOORS)
def test_replicas_with_state_stay_and_more_are_always_let_pass(
    before: int, after: int, floor: int | Unknown
) -> None:
    """Covers R-57 in part."""
    change = Change(kind="StatefulSet", namespace="a", name="b", before=before, after=after)

    found = verdict(change, floor)

    takes_away = after < before and (isinstance(floor, Unknown) or after < floor)
    assert (found is not None) == takes_away


@given(request=REQUESTS | ANYTHING)
def test_a_review_is_read_or_refused(request: Any) -> None:
    document = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request,
    }

    try:
        found = read_scaling(json.dumps(document).encode())
    except (MalformedReview, MalformedObject):
        return

    assert found.review.uid
    assert found.workload is None or found.workload.kind in ("StatefulSet", "Deployment")

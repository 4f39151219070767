"""Admission webhooks (`admission.k8s.io`, v1 and v1beta1): reviews of pods that are to be created.

`review` reads the question, `patch` says what is to change about the pod, `answer` writes the answer.
"""

from springtide.wire.admission.answer import FORBIDDEN, allowed, refused
from springtide.wire.admission.patch import Operation, Patch, set_amounts
from springtide.wire.admission.review import (
    MalformedReview,
    Review,
    created_pod,
    read_review,
)

__all__ = [
    "FORBIDDEN",
    "MalformedReview",
    "Operation",
    "Patch",
    "Review",
    "allowed",
    "created_pod",
    "read_review",
    "refused",
    "set_amounts",
]

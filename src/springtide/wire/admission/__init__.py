"""Admission webhooks (`admission.k8s.io`, v1 and v1beta1): reviews of pods that are to be created, and of replicas.

`review` reads the question, `patch` says what is to change about the pod, `answer` writes the answer.
`scaling` reads the question whether a workload may have fewer replicas.
`shapes` tells documents of an API what both look like.
"""

from springtide.wire.admission.answer import FORBIDDEN, allowed, refused
from springtide.wire.admission.patch import Operation, Patch, add_environment, set_amounts
from springtide.wire.admission.review import (
    Creation,
    MalformedReview,
    Review,
    creation,
    read_review,
)
from springtide.wire.admission.scaling import Scaling, Workload, read_scaling

__all__ = [
    "FORBIDDEN",
    "Creation",
    "MalformedReview",
    "Operation",
    "Patch",
    "Review",
    "Scaling",
    "Workload",
    "add_environment",
    "allowed",
    "creation",
    "read_review",
    "read_scaling",
    "refused",
    "set_amounts",
]

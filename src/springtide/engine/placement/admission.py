"""Admission by all device families, one after the other."""

from collections.abc import Mapping

from msgspec.structs import replace

from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


def admitted(pod: Pod, families: Mapping[str, DeviceFamily]) -> Pod | Refusal:
    """Return a pod that is to be created as admission would store it, or why it would be denied."""
    for family in families.values():
        answer = family.admit(pod)
        if isinstance(answer, Refusal):
            return answer
        pod = replace(pod, spec=answer)
    return pod

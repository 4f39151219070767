"""Admission: by all device families, one after the other, and by the quota of the namespace.

What a quota says depends on what the namespace holds at that moment, so that it is asked apart.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.quota import shortages
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal

EXCEEDED: Final = "exceeding resource quota"
"""What admission says, in HAMi's words."""

Families = Mapping[str, DeviceFamily]


def admitted(pod: Pod, families: Families) -> Pod | Refusal:
    """Return a pod that is to be created as admission would store it, or why it would be denied."""
    for family in families.values():
        answer = family.admit(pod)
        if isinstance(answer, Refusal):
            return answer
        pod = replace(pod, spec=answer)
    return pod


def denial(pod: Pod, families: Families, *, quotas: Quotas) -> Refusal | None:
    """Return why admission would deny a pod whose spec has its defaults, or None if it would not.

    What is asked as a part of a card is nobody's number yet: only placing the pod can tell.
    """
    if not quotas.limited(pod.namespace):
        return None
    for name, family in families.items():
        stated = family.stated(pod)
        if not any(amount for _, amount in stated):
            continue
        short = shortages(pod.namespace, stated, quotas=quotas, families=families)
        if short:
            detail = "; ".join(each.text for each in short)
            return Refusal(rule=name, reasons=(EXCEEDED,), is_unresolvable=True, detail=detail)
    return None

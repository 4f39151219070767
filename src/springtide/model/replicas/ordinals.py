"""The number of a pod: from its ordinal, and from where its workload starts to count."""

import re
from typing import Final

ORDINAL_LABEL: Final = "apps.kubernetes.io/pod-index"
"""On pods of StatefulSets since Kubernetes 1.28: their ordinal."""

_ORDINAL: Final = re.compile(r"-(?P<ordinal>[0-9]{1,9})$")


def pod_ordinal(pod_name: str, *, pod_index_label: str = "") -> int | None:
    """Return a pod's ordinal; None if neither its label nor its name holds one."""
    matched = _ORDINAL.search(pod_name)
    text = pod_index_label or (matched["ordinal"] if matched is not None else "")
    return int(text) if text.isascii() and text.isdecimal() else None


def pod_index(pod_name: str, *, ordinals_start: int = 0, pod_index_label: str = "") -> int | None:
    """Return a pod's number, counted from one; None if it has no ordinal, or one before the start."""
    ordinal = pod_ordinal(pod_name, pod_index_label=pod_index_label)
    index = 0 if ordinal is None else ordinal - ordinals_start + 1
    return index if index >= 1 else None

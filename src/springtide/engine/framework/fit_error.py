"""The sentence with which kube-scheduler says that a pod fits nowhere.

Every node contributes each of its reasons, so that the counts may add up to more than the nodes.
The parts are sorted as text, by their first digit before their number.
"""

from collections import Counter
from collections.abc import Iterable

from springtide.model.refusal import Refusal


def fit_error(
    total: int,
    refusals: Iterable[tuple[Refusal, int]],
    prefilter_message: str = "",
    *,
    postfilter_message: str = "",
) -> str:
    """Return `0/N nodes are available: …` for these refusals with their numbers of nodes.

    A pod that was rejected before any node was looked at has only `prefilter_message` to tell.
    """
    told = prefilter_message or _histogram(refusals)
    parts = [f"0/{total} nodes are available:"]
    if told:
        parts.append(f"{told}.")
    if postfilter_message:
        parts.append(postfilter_message)
    return " ".join(parts)


def _histogram(refusals: Iterable[tuple[Refusal, int]]) -> str:
    counts: Counter[str] = Counter()
    for refusal, nodes in refusals:
        for reason in refusal.reasons:
            counts[reason] += nodes
    return ", ".join(sorted(f"{nodes} {reason}" for reason, nodes in counts.items()))

"""What the policies ask for at one evaluation, and which of them nobody can shrink by."""

from springtide.engine.replicas.combination import Reading
from springtide.engine.replicas.verdicts import Judged, Unknown
from springtide.model.replicas.policy import Policy


def readings(policies: tuple[Policy, ...], judged: dict[str, Judged]) -> list[Reading]:
    """Return what each policy says; one without an answer says nothing, and still stands there."""
    found = []
    for policy in policies:
        verdicts = judged.get(policy.name)
        up = verdicts.up if verdicts is not None else None
        down = verdicts.down if verdicts is not None else None
        found.append(
            Reading(
                policy=policy.name,
                up_total=None if isinstance(up, Unknown) else up,
                down_total=None if isinstance(down, Unknown) else down,
                up_per_replica=policy.up_per_replica,
                down_per_replica=policy.down_per_replica,
                is_required=policy.is_required,
            )
        )
    return found


def doubts(policies: tuple[Policy, ...], judged: dict[str, Judged]) -> list[str]:
    """Return which metrics nobody can shrink by, and why."""
    told = []
    for policy in policies:
        found = judged.get(policy.name)
        if found is None:
            told.append(f"{policy.name} has no answer yet.")
        elif isinstance(found.down, Unknown):
            told.append(f"{policy.name} is unknown ({found.down.label}): {found.down.words}")
    return told

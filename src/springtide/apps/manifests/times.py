"""How long a member may take to go, as the schedule of rounds has it."""

from typing import Final

from springtide.apps.manifests.choices import Choices
from springtide.model.replicas.settings import ReplicaSettings

_SECOND_MS: Final = 1000


def drain_s(settings: ReplicaSettings) -> int:
    """Return how long a member that is told to stop may take to hand over, in whole seconds."""
    schedule = settings.schedule
    return -(-(schedule.start_delay_ms + schedule.period_ms) // _SECOND_MS)


def grace_s(settings: ReplicaSettings, choices: Choices) -> int:
    """Return the grace that pods need: to hand over, and to end after that."""
    return max(drain_s(settings) + choices.stop_s, choices.grace_s_min)

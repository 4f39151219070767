"""How long a member may take to go, as the schedule of rounds has it."""

from typing import Final

from springtide.apps.manifests.choices import Choices
from springtide.model.replicas.settings import ReplicaSettings

NOTICED_MS: Final = 5_000
"""So long, in all, it may take until a label is looked at, an application has answered and the end is seen."""
_SECOND_MS: Final = 1000


def drain_s(settings: ReplicaSettings) -> int:
    """Return how long a member that is told to stop may take to hand over, in whole seconds.

    At its end it shows for as long as an export and a scrape take that it holds nothing any more.
    """
    schedule, pull = settings.schedule, settings.pull
    moving_ms = schedule.start_delay_ms + schedule.period_ms
    shown_ms = pull.export_interval_ms + pull.scrape_interval_ms
    return -(-(moving_ms + shown_ms + NOTICED_MS) // _SECOND_MS)


def grace_s(settings: ReplicaSettings, choices: Choices) -> int:
    """Return the grace that pods need: to hand over, and to end after that."""
    return max(drain_s(settings) + choices.stop_s, choices.grace_s_min)

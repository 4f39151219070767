"""How the service is configured; `pace` shortens all its times, so that a demonstration fits into a minute."""

from typing import Final

from springtide.model.replicas.policy import Aggregation, Operator, Policy
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.settings import (
    LabelSettings,
    PullSettings,
    ReplicaSettings,
    WindowSettings,
)
from springtide.model.replicas.workload import Workload

PEOPLE_EACH: Final = 100
"""So many people one member may carry."""
PEOPLE_FEW: Final = 80
"""Below so many for each member, one less would do."""
MEMBER_TTL_S: Final = 3.0
"""So long a member is one that nobody hears of."""
ETCD: Final = "etcd+"
"""Before the URL of an etcd, so that a member knows what it meets the others in."""
_MS: Final = 1000


def name_of(index: int) -> str:
    """Return what the member of a number, from one, is called."""
    return f"rooms-{index - 1}"


def settings(pace: float = 1.0, *, members_max: int = 12) -> ReplicaSettings:
    """Return them."""

    def ms(seconds: float) -> int:
        return int(seconds * pace * _MS)

    people = Policy(
        name="people",
        aggregation=Aggregation(operator=Operator.SUM),
        up_per_replica=PEOPLE_EACH,
        down_per_replica=PEOPLE_FEW,
    )
    return ReplicaSettings(
        workload=Workload(name="rooms", kind="StatefulSet", api_version="apps/v1"),
        is_enabled=True,
        limits=Limits(replicas_min=2, replicas_max=members_max),
        schedule=Schedule(start_delay_ms=ms(20), period_ms=ms(45), scaling_delay_ms=ms(10)),
        windows=WindowSettings(up_ms=ms(10), down_ms=ms(20)),
        pull=PullSettings(interval_ms=ms(10), retry_ms=ms(3), export_interval_ms=ms(10)),
        labels=LabelSettings(init_wait_ms=ms(10)),
        custom=(people,),
        cancel_after_ms=ms(20),
    )


def down_window_s(pace: float = 1.0) -> float:
    """Return how long the autoscaler waits before it takes a member away: longer than a change of leaders."""
    return max(40.0 * pace, 20.0)

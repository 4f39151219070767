"""The process around the simulation service: a server of what-ifs that can change nothing.

`process` composes it. `access` says who may call and how often, `lanes` who waits for whom, `answering` how
long an answer may take and what is told of it, `surface` what is behind the `endpoints`; `learning` follows
DeviceProfiles, `figures` are its metrics. What is answered is decided in `apps.sessions`.
"""

from springtide.apps.simulation.access import Review, Times
from springtide.apps.simulation.learning import Follow
from springtide.apps.simulation.process import Process, Where
from springtide.apps.simulation.service import rule_maker
from springtide.apps.simulation.settings import Access, Limits, Settings, settings

__all__ = [
    "Access",
    "Follow",
    "Limits",
    "Process",
    "Review",
    "Settings",
    "Times",
    "Where",
    "rule_maker",
    "settings",
]

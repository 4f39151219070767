"""What is behind `springtide headroom`: input files in, one report of what still fits out.

`choosing`, `asks`, `written` and `ladder` say what is asked about, `pools` and `occupancy` how nodes are told together and
what their devices hold, `compose` turns the engine's answers into the versioned `report`.
"""

from springtide.apps.headroom.choosing import About, Request
from springtide.apps.headroom.report import HeadroomReport
from springtide.apps.headroom.run import run

__all__ = ["About", "HeadroomReport", "Request", "run"]

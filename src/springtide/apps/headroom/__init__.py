"""What is behind `springtide headroom`: input files in, one report of what still fits out.

`asks` and `ladder` say what is asked about, `pools` and `occupancy` how nodes are told together and
what their devices hold, `compose` turns the engine's answers into the versioned `report`.
"""

from springtide.apps.headroom.report import HeadroomReport
from springtide.apps.headroom.run import Request, run

__all__ = ["HeadroomReport", "Request", "run"]

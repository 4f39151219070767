"""What is behind `springtide replay`: a cluster's pods placed anew under policies, and what differs.

`script` says which pods come and in which order, `runs` places them under one policy or takes the
placement that the input records, `reasons` counts why pods are refused, `compose` turns runs into
the versioned `report`.
"""

from springtide.apps.replay.report import ReplayReport
from springtide.apps.replay.run import Request, Stay, run

__all__ = ["ReplayReport", "Request", "Stay", "run"]

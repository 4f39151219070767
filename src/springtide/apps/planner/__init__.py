"""The offline planner behind `springtide plan`: input files in, one report out.

`assemble` turns decoded objects into a `picture` of the cluster, by `node_groups` and `pods_read`; `run` asks the
engine, `report` is the documented, versioned answer that every output format is rendered from.
"""

from springtide.apps.planner.onlooker import Onlooker
from springtide.apps.planner.report import PlanReport
from springtide.apps.planner.run import Request, run

__all__ = ["Onlooker", "PlanReport", "Request", "run"]

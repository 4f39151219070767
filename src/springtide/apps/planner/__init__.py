"""The offline planner behind `springtide plan`: input files in, one report out.

`assemble` turns decoded objects into a ledger and templates, `run` asks the engine, `report` is the
documented, versioned answer that every output format is rendered from.
"""

from springtide.apps.planner.onlooker import Onlooker
from springtide.apps.planner.report import PlanReport
from springtide.apps.planner.run import Request, run

__all__ = ["Onlooker", "PlanReport", "Request", "run"]

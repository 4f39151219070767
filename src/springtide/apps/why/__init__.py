"""The answer behind `springtide why`: input files and names of pods in, one report out.

`asked` finds the pods, `run` asks the engine, `report` is the documented, versioned answer that
every output format is rendered from. A process that serves others and must not be kept waiting writes a
`question` with all that it knows to a process `beside` it.
"""

from springtide.apps.why.report import WhyReport
from springtide.apps.why.run import Request, run

__all__ = ["Request", "WhyReport", "run"]

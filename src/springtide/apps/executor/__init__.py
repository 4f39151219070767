"""The executor: brings the members of a workload outside Kubernetes to the number that is wanted.

`process` composes it. `driver` feeds the machine of `engine.replicas.executing` with what `wishes` say (here
`prometheus`), with what the executor sees and with what came of its orders. `applied` keeps the generation
over restarts. `surface` shows the last decision in words.
"""

from springtide.apps.executor.driver import Driver, Pace
from springtide.apps.executor.process import Process
from springtide.apps.executor.wishes import Wishes

__all__ = ["Driver", "Pace", "Process", "Wishes"]

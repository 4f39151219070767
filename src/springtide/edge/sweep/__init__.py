"""Sweeps: one function performed on many jobs, in this process, on several, or on a Dask cluster.

The answers come in the order in which they are ready. What is performed, and why, is the caller's
business; here is decided only where. Whoever stops listening ends the work: no process is left.
"""

from springtide.edge.sweep.errors import Died, Missing, SweepFault, Unreachable, Unsuitable
from springtide.edge.sweep.here import Here
from springtide.edge.sweep.port import Named, Sweep
from springtide.edge.sweep.processes import Processes
from springtide.edge.sweep.remote import Dask

__all__ = [
    "Dask",
    "Died",
    "Here",
    "Missing",
    "Named",
    "Processes",
    "Sweep",
    "SweepFault",
    "Unreachable",
    "Unsuitable",
]

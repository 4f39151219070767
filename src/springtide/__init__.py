"""Springtide: elastic scheduling for accelerator clusters on Kubernetes.

Decisions are pure functions over immutable records; files, clocks and sockets live at the edge and
are passed in. The rooms of the package, from the outside in, and what may import what are in
`docs/architecture.md`; `make check` enforces it.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"

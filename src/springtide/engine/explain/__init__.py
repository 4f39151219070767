"""Why a pod has no node, and the smallest single change that would give it one. Pure search.

`explanation` answers for one class of pods: what every node says, device by device, and which
changes would help, each found by trying it and tried again by the whole filter.
"""

from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.explanation import Explained, Scene, explain

__all__ = ["Change", "ChangeKind", "Explained", "Scene", "explain"]

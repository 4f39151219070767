"""Who looks on while a question is answered: how far the work is, and what is told beside the answer."""

from typing import Final

import msgspec

from springtide.base.progress import Progress, Unwatched
from springtide.base.telling import Tell, Untold
from springtide.wire.documents import Input


class Onlooker(msgspec.Struct, frozen=True):
    """Whom to tell; nobody unless given."""

    progress: Progress = Unwatched()
    tell: Tell = Untold()


NOBODY: Final = Onlooker()


def looking_at(found: Input) -> str:
    """Return how much there is to look at."""
    pods = len(found.pods) + len(found.manifests)
    return f"Looking at {len(found.nodes):,} nodes and {pods:,} pods"

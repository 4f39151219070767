"""PodDisruptionBudgets: how many of some pods may be evicted now."""

import msgspec

from springtide.base.selectors import LabelSelector


class DisruptionBudget(msgspec.Struct, frozen=True, kw_only=True):
    """A budget of one namespace: `allowed` further pods may go, beside those named in `going`."""

    namespace: str
    name: str
    selector: LabelSelector | None = None
    allowed: int = 0
    going: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

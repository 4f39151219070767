"""The taints of a node as they stand in its object, so that those of others stay as they are."""

from typing import Any, Final

import msgspec

from springtide.base.taints import Taint
from springtide.edge.kube.known import Header


class _Spec(msgspec.Struct, frozen=True):
    taints: list[dict[str, Any]] | None = None


class Tainted(msgspec.Struct, frozen=True):
    """What is read of a node before its taints are changed."""

    metadata: Header = Header()
    spec: _Spec = _Spec()

    @property
    def uid(self) -> str:
        """Return which node of this name it is."""
        return self.metadata.uid

    @property
    def version(self) -> str:
        """Return at which version it was read."""
        return self.metadata.resource_version

    @property
    def taints(self) -> list[dict[str, Any]]:
        """Return the taints as they are written."""
        return self.spec.taints or []

    def without(self, taint: Taint, *, is_exact: bool) -> list[dict[str, Any]]:
        """Return the others: all that have another key or effect or, if exact, another value."""
        return [
            each
            for each in self.taints
            if (each.get("key"), each.get("effect")) != (taint.key, taint.effect)
            or (is_exact and each.get("value", "") != taint.value)
        ]


def said(taint: Taint) -> dict[str, Any]:
    """Return a taint as the API writes it."""
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


TAINTED: Final = msgspec.json.Decoder(Tainted)

"""Refusals that come before any device is looked at: there is no usable registration."""

from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.model.refusal import Refusal

PROFILE = "device profile"


def unregistered(family: str, *, detail: str = "") -> Refusal:
    """Return the refusal of a node on which no device of the family is known."""
    return Refusal(rule=family, reasons=(NODE_UNREGISTERED,), is_unresolvable=True, detail=detail)

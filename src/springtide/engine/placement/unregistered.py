"""Refusals that come before any device is looked at: there is no usable registration."""

from springtide.model.refusal import Refusal

UNREGISTERED = "node unregistered"
MALFORMED = "device registration malformed"
PROFILE = "device profile"


def unregistered(family: str, *, detail: str = "") -> Refusal:
    """Return the refusal of a node on which no device of the family is known."""
    return Refusal(rule=family, reasons=(UNREGISTERED,), is_unresolvable=True, detail=detail)

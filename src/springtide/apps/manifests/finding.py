"""What is wrong with something that is installed, where it stands, and what mends it."""

from enum import StrEnum

import msgspec

from springtide.wire.origin import Origin
from springtide.wire.validation import Path, shown


class Rule(StrEnum):
    """What a finding is about, as the documentation calls it."""

    LABELS = "labels"
    GRACE = "grace"
    CONTAINER = "container"
    ACCOUNT = "account"
    PRESTOP = "preStop"
    NAME = "name"
    ORDINALS = "ordinals"
    PORT = "port"
    MAX = "max"
    ZERO = "zero"
    REPLICAS = "replicas"
    ORDER = "order"
    VOLUMES = "volumes"
    UPDATE = "update"
    TWO = "two"
    VERSION = "version"
    FOREIGN = "foreign"
    VALUE = "value"
    SCOPE = "scope"
    SLASH = "slash"
    BOTH = "both"
    TOLERANCE = "tolerance"
    WINDOW = "window"
    CLOSED = "closed"
    OBSERVE = "observe"
    GATE = "gate"
    REACH = "reach"


class Printed(StrEnum):
    """What a command prints, and so what applying it mends."""

    NOTHING = ""
    OBJECTS = "objects"
    PATCH = "patch"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault or warning.

    Whoever is about to apply what mends it is only warned.
    """

    rule: Rule
    origin: Origin
    path: Path
    reason: str
    is_fault: bool = True
    mended_by: Printed = Printed.NOTHING

    @property
    def where(self) -> str:
        """Return the path of the field as people write it."""
        return shown(self.path)

    def stops(self, printed: Printed) -> bool:
        """Return whether nothing is to be printed because of it."""
        return self.is_fault and (printed is Printed.NOTHING or self.mended_by is not printed)

    def __str__(self) -> str:
        return f"{self.origin.fault(self.path, self.reason)} ({self.rule})"


def fault(
    origin: Origin, rule: Rule, path: Path, reason: str, *, mended_by: Printed = Printed.NOTHING
) -> Finding:
    """Return what must not stay so."""
    return Finding(rule=rule, origin=origin, path=path, reason=reason, mended_by=mended_by)


def warning(
    origin: Origin, rule: Rule, path: Path, reason: str, *, mended_by: Printed = Printed.NOTHING
) -> Finding:
    """Return what is rarely meant."""
    return Finding(
        rule=rule, origin=origin, path=path, reason=reason, is_fault=False, mended_by=mended_by
    )

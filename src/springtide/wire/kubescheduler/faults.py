"""Faults of fields, each with its path and kube-scheduler's complete text."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from springtide.base.labels import key_faults
from springtide.base.selectors import faults
from springtide.model.scheduler_values import Duration
from springtide.wire.validation import Path, shown


class FieldFault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with the field at this path; the text begins with the path."""

    path: Path
    text: str

    @property
    def reason(self) -> str:
        """Return the text without the path."""
        return self.text.removeprefix(f"{shown(self.path)}: ")


Faults = Iterator[FieldFault]

_REQUIRED: Final = "Required value"


def invalid(path: Path, value: str | int | Duration, why: str) -> FieldFault:
    """Return the fault of a value that cannot be."""
    told = str(value) if isinstance(value, int) else faults.quoted(str(value))
    return as_told(path, f"Invalid value: {told}: {why}")


def unsupported(path: Path, value: str, supported: Sequence[str]) -> FieldFault:
    """Return the fault of a value outside an enumeration."""
    return FieldFault(path=path, text=faults.unsupported(shown(path), value, supported))


def required(path: Path, why: str = "") -> FieldFault:
    """Return the fault of a value that is missing."""
    return as_told(path, f"{_REQUIRED}: {why}" if why else _REQUIRED)


def duplicate(path: Path, value: str) -> FieldFault:
    """Return the fault of a value that is given twice."""
    return as_told(path, f"Duplicate value: {faults.quoted(value)}")


def forbidden(path: Path, why: str) -> FieldFault:
    """Return the fault of a value that must not be given."""
    return as_told(path, f"Forbidden: {why}")


def as_told(path: Path, what: str) -> FieldFault:
    """Return a fault in words of its own."""
    return FieldFault(path=path, text=f"{shown(path)}: {what}")


def label_name_faults(path: Path, name: str) -> Faults:
    """Yield what keeps a text from being the name of a label."""
    return (invalid(path, name, fault) for fault in key_faults(name))

"""A configuration in the input: read, validated, and where it stands for later complaints."""

from typing import NoReturn

from springtide.wire.configurations import Given
from springtide.wire.errors import InvalidDocument
from springtide.wire.kubescheduler.decoding import from_json
from springtide.wire.kubescheduler.faults import FieldFault
from springtide.wire.kubescheduler.parsed import Complaint
from springtide.wire.kubescheduler.validation import validation_faults
from springtide.wire.origin import Origin


def read(data: bytes, *, origin: Origin) -> Given:
    """Return the configuration that a document states, or raise InvalidDocument."""
    try:
        configuration = from_json(data, is_yaml=origin.document is not None)
    except Complaint as fault:
        raise origin.fault(fault.path, f"kube-scheduler refuses this: {fault.text}") from fault
    found = validation_faults(configuration)
    if found:
        _refuse(found, origin)
    return Given(configuration=configuration, origin=origin)


def _refuse(found: tuple[FieldFault, ...], origin: Origin) -> NoReturn:
    """Raise the first fault at its place; the others are told with it."""
    first, *others = found
    also = "".join(f"; {each.text}" for each in others)
    raise origin.fault(first.path, f"kube-scheduler refuses this: {first.reason}{also}")


def refusal(given: Given, path: tuple[str | int, ...], text: str) -> InvalidDocument:
    """Return the fault of a configuration with which kube-scheduler does not start."""
    return given.origin.fault(path, f"kube-scheduler does not start with this: {text}")

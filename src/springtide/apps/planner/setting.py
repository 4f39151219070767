"""What every question about an input needs first, and what its answer says of the input."""

from springtide.apps.planner import inspection
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.report import InputReport
from springtide.base.errors import SpringtideError
from springtide.engine.placement.configured import InvalidConfig
from springtide.engine.placement.family import DeviceFamily
from springtide.wire.documents import DEVICE_CONFIG, Input


class InvalidInput(SpringtideError):
    """Input that decodes but cannot be: it names the file, the field and the remedy."""


def families_of(found: Input, policies: Policies) -> dict[str, DeviceFamily]:
    """Return the device families as the input configures them, or raise `InvalidInput`."""
    try:
        return families(found.device_config, policies)
    except InvalidConfig as fault:
        raise InvalidInput(f"{found.sources.get(DEVICE_CONFIG, DEVICE_CONFIG)}: {fault}") from fault


def input_report(found: Input, notes: tuple[str, ...]) -> InputReport:
    """Return what was read, with notes of the caller's."""
    return InputReport(
        objects=sum(found.counts.values()),
        kinds=dict(sorted(found.counts.items())),
        nodes=len(found.nodes),
        pods=len(found.pods) + len(found.manifests),
        skipped=len(found.problems),
        notes=(*found.notes, *inspection.notes(found), *notes),
    )

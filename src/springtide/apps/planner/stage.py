"""What every question about a cluster is asked on: the picture, whose rules judge, and the tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from springtide.apps.planner.assemble import Picture, assemble
from springtide.apps.planner.consulting import Consulted, consulted
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.report import InputReport
from springtide.apps.planner.schedulers import Schedulers, schedulers
from springtide.apps.planner.spending import Calls
from springtide.base.clock import Clock
from springtide.base.errors import SpringtideError
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.vendors.nvidia import InvalidConfig
from springtide.wire.documents import DEVICE_CONFIG, Input


class InvalidInput(SpringtideError):
    """Input that decodes but cannot be: it names the file, the field and the remedy."""


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One input, set up to be asked about."""

    families: Mapping[str, DeviceFamily]
    picture: Picture
    judges: Schedulers
    heard: Consulted
    tables: Tables
    classifier: Classifier


@contextmanager
def staged(
    found: Input, *, policies: Policies, calls: Calls | None, clock: Clock
) -> Iterator[Stage]:
    """Give the stage; extenders, if there are calls for them, are there as long as it is used.

    Raises `InvalidInput` for a device configuration and `InvalidDocument` for a scheduler
    configuration with which nothing starts, or with an extender that cannot be called as it says.
    """
    kinds = _families(found, policies)
    picture = assemble(found, kinds)
    judges = schedulers(found.scheduler, kinds, picture.waiting, found.storage)
    with consulted(found, picture, kinds, allowed=calls, clock=clock) as heard:
        yield Stage(
            families=kinds,
            picture=picture,
            judges=judges,
            heard=heard,
            tables=Tables(
                picture.ledger,
                judges.framework,
                kinds,
                by_scheduler=judges.by_name,
                extenders=heard.extenders,
            ),
            classifier=Classifier(kinds, keys=picture.read_keys, appearance=heard.appearance),
        )


def input_report(found: Input, notes: tuple[str, ...]) -> InputReport:
    """Return what was read, with notes of the caller's."""
    return InputReport(
        objects=sum(found.counts.values()),
        kinds=dict(sorted(found.counts.items())),
        nodes=len(found.nodes),
        pods=len(found.pods) + len(found.manifests),
        skipped=len(found.problems),
        notes=(*found.notes, *notes),
    )


def _families(found: Input, policies: Policies) -> dict[str, DeviceFamily]:
    try:
        return families(found.device_config, policies)
    except InvalidConfig as fault:
        raise InvalidInput(f"{found.sources.get(DEVICE_CONFIG, DEVICE_CONFIG)}: {fault}") from fault

"""One run of the planner: decoded input in, report out."""

from typing import Final

import msgspec

from springtide.apps.planner import inspection
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.compose import compose
from springtide.apps.planner.consulting import consulted
from springtide.apps.planner.decisions import told_of
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.limits import idle_limits
from springtide.apps.planner.remedies import remedies
from springtide.apps.planner.report import InputReport, PlanReport
from springtide.apps.planner.schedulers import Claimable, scheduler_notes, schedulers
from springtide.apps.planner.selector_faults import selector_faults
from springtide.apps.planner.spending import Calls
from springtide.base.clock import Clock, Rng
from springtide.base.errors import SpringtideError
from springtide.base.progress import Progress, Unwatched
from springtide.base.telling import Tell, Untold
from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.situation import Situation
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.configured import InvalidConfig
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.policies.expanders import PriceModel, chain
from springtide.wire.cel import Selectors
from springtide.wire.documents import DEVICE_CONFIG, Input


class InvalidInput(SpringtideError):
    """Input that decodes but cannot be: it names the file, the field and the remedy."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may choose; without `calls` scheduler extenders are taken to agree.

    Whoever has them called keeps objects as they were written when the input is decoded.
    """

    expanders: tuple[str, ...] = ("least-waste",)
    policies: Policies = Policies()
    bounds: Bounds = Bounds()
    manner: Manner = Manner()
    calls: Calls | None = None


class Onlooker(msgspec.Struct, frozen=True):
    """Who looks on: how far the work is, and what is told beside the answer."""

    progress: Progress = Unwatched()
    tell: Tell = Untold()


_NOBODY: Final = Onlooker()


def run(
    found: Input, request: Request, *, clock: Clock, rng: Rng, onlooker: Onlooker = _NOBODY
) -> PlanReport:
    """Return the report for the input.

    Raises `UnknownExpander` for a chain that makes no sense, `InvalidInput` for a device
    configuration and `InvalidDocument` for a scheduler configuration with which nothing starts, or
    with an extender that cannot be called as it says.
    """
    progress, tell = onlooker.progress, onlooker.tell
    progress.begin(_looking(found))
    kinds = _families(found, request)
    selectors = Selectors()
    claimable = Claimable(storage=found.storage, devices=found.device_objects, selectors=selectors)
    judges = schedulers(found.scheduler, kinds, claimable)
    picture = assemble(found, kinds, spreading=judges.spreading)
    prices = PriceModel(cluster_size=picture.ledger.count)
    with consulted(found, picture, kinds, allowed=request.calls, clock=clock, tell=tell) as heard:
        tables = Tables(
            picture.ledger,
            judges.framework,
            kinds,
            by_scheduler=judges.by_name,
            extenders=heard.extenders,
        )
        progress.begin("Planning: the nodes that are there")
        answer = plan(
            Situation(
                tables=tables,
                classifier=Classifier(
                    kinds,
                    keys=picture.read_keys,
                    appearance=heard.appearance,
                    devices=found.device_objects,
                    defaults=picture.defaults,
                ),
                pending=picture.waiting,
                groups=picture.groups,
                clock=clock,
                bounds=request.bounds,
                manner=request.manner,
                evictable=picture.evictable,
                progress=progress,
            ),
            chain(request.expanders, prices=prices, rng=rng),
        )
    told_of(answer, picture, tell)
    account = heard.account()
    notes = (
        *scheduler_notes(judges, picture.waiting, found.selecting),
        *idle_limits(request.bounds.quotas, picture),
        *account.notes,
    )
    return compose(
        answer,
        picture,
        read=_read(found, notes),
        problems=(
            *found.problems,
            *inspection.inspected(found),
            *selector_faults(found, selectors),
            *picture.problems,
            *judges.problems,
            *heard.problems,
        ),
        extenders=account.reports,
        remedies=remedies(answer.stuck, judges, kinds, picture),
    )


def _looking(found: Input) -> str:
    pods = len(found.pods) + len(found.manifests)
    return f"Looking at {len(found.nodes):,} nodes and {pods:,} pods"


def _families(found: Input, request: Request) -> dict[str, DeviceFamily]:
    try:
        return families(found.device_config, request.policies)
    except InvalidConfig as fault:
        raise InvalidInput(f"{found.sources.get(DEVICE_CONFIG, DEVICE_CONFIG)}: {fault}") from fault


def _read(found: Input, notes: tuple[str, ...]) -> InputReport:
    return InputReport(
        objects=sum(found.counts.values()),
        kinds=dict(sorted(found.counts.items())),
        nodes=len(found.nodes),
        pods=len(found.pods) + len(found.manifests),
        skipped=len(found.problems),
        notes=(*found.notes, *inspection.notes(found), *notes),
    )

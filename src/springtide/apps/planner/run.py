"""One run of the planner: decoded input in, report out."""

import msgspec

from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.compose import compose
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.report import InputReport, PlanReport
from springtide.base.clock import Clock, Rng
from springtide.engine.capacity.plan import Bounds, Situation, plan
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.policies.expanders import PriceModel, chain
from springtide.wire.documents import Input


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may choose."""

    expanders: tuple[str, ...] = ("least-waste",)
    policies: Policies = Policies()
    bounds: Bounds = Bounds()


def run(found: Input, request: Request, *, clock: Clock, rng: Rng) -> PlanReport:
    """Return the report for the input. Raises `UnknownExpander` for a chain that makes no sense."""
    kinds = families(found.device_config, request.policies)
    picture = assemble(found, kinds)
    managed = found.managed_resources
    if managed is None:
        managed = frozenset(name for family in kinds.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=managed))
    prices = PriceModel(cluster_size=picture.ledger.count)
    answer = plan(
        Situation(
            tables=Tables(picture.ledger, framework, kinds),
            classifier=Classifier(kinds, keys=picture.keys),
            pending=picture.waiting,
            groups=picture.groups,
            clock=clock,
            bounds=request.bounds,
        ),
        chain(request.expanders, prices=prices, rng=rng),
    )
    problems = (*found.problems, *picture.problems)
    return compose(answer, picture, read=_read(found, len(found.problems)), problems=problems)


def _read(found: Input, skipped: int) -> InputReport:
    return InputReport(
        objects=sum(found.counts.values()),
        kinds=dict(sorted(found.counts.items())),
        nodes=len(found.nodes),
        pods=len(found.pods) + len(found.manifests),
        skipped=skipped,
        notes=found.notes,
    )

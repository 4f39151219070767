"""One run of the planner: decoded input in, report out."""

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.compose import compose
from springtide.apps.planner.decisions import told_of
from springtide.apps.planner.families import Policies
from springtide.apps.planner.limits import idle_limits
from springtide.apps.planner.namespace_quotas import overdrawn
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.apps.planner.remedies import remedies
from springtide.apps.planner.report import PlanReport
from springtide.apps.planner.schedulers import scheduler_notes
from springtide.apps.planner.setting import InvalidInput, input_report
from springtide.apps.planner.spending import Calls
from springtide.apps.planner.stage import Stage, staged
from springtide.base.clock import Clock, Rng
from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.situation import Situation
from springtide.policies.expanders import PriceModel, chain
from springtide.wire.documents import Input

__all__ = ["InvalidInput", "Request", "run"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may choose; without `calls` scheduler extenders are taken to agree.

    With a `namespace` only its pods are planned for.

    Whoever has them called keeps objects as they were written when the input is decoded.
    """

    expanders: tuple[str, ...] = ("least-waste",)
    policies: Policies = Policies()
    bounds: Bounds = Bounds()
    manner: Manner = Manner()
    calls: Calls | None = None
    namespace: str = ""


def run(
    found: Input, request: Request, *, clock: Clock, rng: Rng, onlooker: Onlooker = NOBODY
) -> PlanReport:
    """Return the report for the input.

    Raises `UnknownExpander` for a chain that makes no sense, and what `staged` raises.
    """
    with staged(
        found,
        policies=request.policies,
        calls=request.calls,
        clock=clock,
        namespace=request.namespace,
        onlooker=onlooker,
    ) as stage:
        onlooker.progress.begin("Planning: the nodes that are there")
        prices = PriceModel(cluster_size=stage.picture.ledger.count)
        answer = plan(
            replace(_situation(stage, request, clock), progress=onlooker.progress),
            chain(request.expanders, prices=prices, rng=rng),
        )
    told_of(answer, stage.picture, onlooker.tell)
    picture, judges, account = stage.picture, stage.judges, stage.heard.account()
    notes = (
        *stage.notes,
        *scheduler_notes(judges, picture.waiting, found.selecting),
        *idle_limits(request.bounds.quotas, picture),
        *overdrawn(picture.ledger.quotas),
        *account.notes,
    )
    return compose(
        answer,
        picture,
        read=input_report(found, notes),
        problems=stage.problems,
        extenders=account.reports,
        remedies=remedies(answer.obstacles, judges, stage.families, picture),
    )


def _situation(stage: Stage, request: Request, clock: Clock) -> Situation:
    return Situation(
        tables=stage.tables,
        classifier=stage.classifier,
        pending=stage.picture.waiting,
        gangs=stage.picture.gangs,
        groups=stage.picture.groups,
        clock=clock,
        bounds=request.bounds,
        manner=request.manner,
        evictable=stage.picture.evictable,
    )

"""Opens what it takes to consult scheduler extenders during one plan, and closes it.

Without `Calls` nobody is called. Whatever speaks HTTP is loaded only if somebody is.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

import msgspec

from springtide.apps.planner.bodies import Bodies
from springtide.apps.planner.extenders import (
    Account,
    Sorted,
    Tally,
    assumed,
    called,
    interested,
    sorted_out,
)
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.spending import Budget, Calls
from springtide.base.clock import Clock
from springtide.base.telling import Tell, Untold
from springtide.engine.placement.extenders import Extenders
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.simulation.templates import Template
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.scheduler import Extender
from springtide.wire.documents import Input

_UNTOLD: Final = Untold()


class Consulted(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to ask and how pods look to them, None if nobody is asked, and what came of it."""

    account: Callable[[], Account]
    extenders: Extenders | None = None
    appearance: Callable[[Pod], str] | None = None
    problems: tuple[Problem, ...] = ()


@contextmanager
def consulted(
    found: Input,
    picture: Picture,
    families: Mapping[str, DeviceFamily],
    *,
    allowed: Calls | None,
    clock: Clock,
    tell: Tell = _UNTOLD,
) -> Iterator[Consulted]:
    """Give what a plan needs to ask extenders as long as it runs.

    Raises InvalidDocument for an extender that cannot be called as it is configured.
    """
    who = sorted_out(found.scheduler, families)
    concerned = [
        (index, each) for index, each in who.others if interested(who, each, picture.waiting)
    ]
    if allowed is None:
        yield Consulted(account=lambda: assumed(who, picture.waiting))
    elif not concerned:
        is_configured = found.scheduler is not None
        yield Consulted(
            account=lambda: called(who, picture.waiting, (), is_configured=is_configured)
        )
    else:
        with ExitStack() as stack:
            yield _opened(
                found,
                picture,
                who,
                concerned,
                allowed=allowed,
                clock=clock,
                tell=tell,
                stack=stack,
            )


def _opened(
    found: Input,
    picture: Picture,
    who: Sorted,
    concerned: list[tuple[int, Extender]],
    *,
    allowed: Calls,
    clock: Clock,
    tell: Tell,
    stack: ExitStack,
) -> Consulted:
    # Loading it takes as long as a small plan, which mostly calls nobody.
    from springtide.apps.planner import calling  # noqa: PLC0415
    from springtide.edge.http import Exchange  # noqa: PLC0415

    given = found.scheduler
    assert given is not None
    bodies = Bodies(
        found.raws,
        stored=frozenset(pod.key for pod in found.pods),
        templates=[
            group.template for group in picture.groups if isinstance(group.template, Template)
        ],
        concerns=lambda spec: any(who.is_interested(each, spec) for _, each in concerned),
    )
    caller = calling.Caller(
        found=who, bodies=bodies, budget=Budget(allowed), clock=clock, tell=tell
    )
    servers = [calling.server(index, each, given, allowed=allowed) for index, each in concerned]
    members = [
        calling.HttpFilter(each, stack.enter_context(Exchange(server)), caller)
        for (_, each), server in zip(concerned, servers, strict=True)
    ]
    extenders = Extenders(members)

    def account() -> Account:
        tallies = [
            Tally(extender=each.extender, calls=each.calls, failures=extenders.failures[each])
            for each in members
        ]
        return called(who, picture.waiting, tallies, is_configured=True)

    return Consulted(
        account=account,
        extenders=extenders,
        appearance=bodies.appearance,
        problems=tuple(
            calling.unchecked(index, given)
            for index, each in concerned
            if calling.is_unchecked(each)
        ),
    )

"""One replay: decoded input in, report out."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

import msgspec

from springtide.apps.planner.families import Policies
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.apps.planner.setting import InvalidInput, families_of, input_report
from springtide.apps.planner.stage import Stage, staged
from springtide.apps.replay import runs
from springtide.apps.replay.compose import Told, compose
from springtide.apps.replay.notes import notes
from springtide.apps.replay.policies import RECORDED, policies
from springtide.apps.replay.report import ReplayReport
from springtide.apps.replay.runs import Cast, Run
from springtide.apps.replay.script import Script, in_order, script
from springtide.apps.replay.trace import Stay
from springtide.base.clock import Clock
from springtide.engine.replay import Turn, arrivals, turns
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.wire.documents import Input

__all__ = ["Request", "Stay", "run"]

NOT_RECORDED: Final = (
    "No pod that would be replayed is on a node of the input, so nothing is recorded to compare with. "
    "Name two policies: --policy binpack/spread --against spread/binpack."
)
TWICE_RECORDED: Final = (
    "What is recorded does not differ from itself. Name a policy for one of --policy and --against."
)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may choose: two policies by name, and whether pods without devices stay.

    `stays` says by `namespace/name` when pods came and went, if those that go are to go.
    """

    policy: str = "binpack/spread"
    against: str = RECORDED
    is_devices_only: bool = False
    stays: Mapping[str, Stay] = MappingProxyType({})


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One run, who came in it and who could not, and what is said of the input."""

    run: Run
    cast: Cast
    apart: tuple[tuple[Pod, str], ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


def run(
    found: Input, request: Request, *, clock: Clock, onlooker: Onlooker = NOBODY
) -> ReplayReport:
    """Return the report for the input.

    Raises `InvalidInput` if nothing is there to compare with, and what planning raises for its input.
    """
    ready = script(found, managed=_managed(found), is_devices_only=request.is_devices_only)
    compared = (request.policy, request.against)
    _check(compared, ready)
    scene = _Scene(ready, request, clock, onlooker)
    acts = {name: scene.act(name) for name in dict.fromkeys(compared) if name != RECORDED}
    first = next(iter(acts.values()))
    problems = [problem for act in acts.values() for problem in act.problems]
    played = {name: act.run for name, act in acts.items()}
    if ready.is_recorded:
        with scene.staged(RECORDED) as stage:
            played[RECORDED] = runs.recorded(first.cast, stage)
            problems.extend(stage.problems)
    others = [each for name, each in played.items() if name not in compared]
    return compose(
        first.cast.pods,
        [*(played[name] for name in compared), *others],
        Told(
            apart=first.apart,
            problems=tuple(dict.fromkeys(problems)),
            read=input_report(found, (*ready.notes, *first.notes)),
        ),
    )


def _managed(found: Input) -> frozenset[str]:
    families = families_of(found, Policies()).values()
    return frozenset(name for each in families for name in each.resource_names())


def _check(compared: tuple[str, str], ready: Script) -> None:
    if compared == (RECORDED, RECORDED):
        raise InvalidInput(TWICE_RECORDED)
    if RECORDED in compared and not ready.is_recorded:
        raise InvalidInput(NOT_RECORDED)


class _Scene:
    """Sets up the stage of every run, and lets the pods come on it."""

    def __init__(self, ready: Script, request: Request, clock: Clock, onlooker: Onlooker) -> None:
        self._script = ready
        self._request = request
        self._clock = clock
        self._onlooker = onlooker

    @contextmanager
    def staged(self, name: str) -> Iterator[Stage]:
        """Give the stage of a policy, or of what is recorded."""
        is_recorded = name == RECORDED
        with staged(
            self._script.recorded if is_recorded else self._script.cleared,
            policies=Policies() if is_recorded else policies(name),
            calls=None,
            clock=self._clock,
            onlooker=self._onlooker,
        ) as stage:
            yield stage

    def act(self, name: str) -> Act:
        """Return what becomes of the pods under a policy."""
        with self.staged(name) as stage:
            picture = stage.picture
            cast = self._cast(tuple(in_order(picture.waiting)))
            return Act(
                run=runs.under(name, cast, stage, self._onlooker),
                cast=cast,
                apart=(*picture.apart, *picture.denied),
                notes=notes(cast.pods, stage, self._script.cleared),
                problems=stage.problems,
            )

    def _cast(self, pods: tuple[Pod, ...]) -> Cast:
        return Cast(pods=pods, order=self._order(pods))

    def _order(self, pods: tuple[Pod, ...]) -> tuple[Turn, ...]:
        stays = self._request.stays
        if not stays:
            return arrivals(len(pods))
        times = [stays[pod.key] for pod in pods]
        return turns([came for came, _ in times], [went for _, went in times])

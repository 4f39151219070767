"""Which scheduler extenders have a say in a plan, and how each is treated.

HAMi's own extender, known by the resources that it manages, is answered for by our device families
and never called. The others are called if that is asked for, and otherwise taken to agree; either way
the answer says so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from springtide.apps.planner.report import ExtenderReport
from springtide.engine.placement.extenders import Failed
from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod, PodSpec
from springtide.model.scheduler import Extender
from springtide.wire.configurations import Given


class Sorted(msgspec.Struct, frozen=True, kw_only=True):
    """The extenders that filter nodes, with their places in the configuration.

    `own` are those that our device families answer for. `schedulers` are the names of the profiles,
    whose pods all extenders are for.
    """

    own: tuple[tuple[int, Extender], ...] = ()
    others: tuple[tuple[int, Extender], ...] = ()
    schedulers: frozenset[str] = frozenset()

    def is_interested(self, extender: Extender, spec: PodSpec) -> bool:
        """Return whether the extender has a say in pods of this spec."""
        if spec.scheduler_name not in self.schedulers:
            return False
        managed = {each.name for each in extender.managed_resources}
        return not managed or not managed.isdisjoint(_names(spec))


def sorted_out(given: Given | None, families: Mapping[str, DeviceFamily]) -> Sorted:
    """Return who is who among the extenders of the configuration."""
    if given is None:
        return Sorted()
    known = frozenset(name for each in families.values() for name in each.resource_names())
    own: list[tuple[int, Extender]] = []
    others: list[tuple[int, Extender]] = []
    for index, extender in enumerate(given.configuration.extenders):
        if extender.filter_verb:
            managed = {each.name for each in extender.managed_resources}
            (others if managed.isdisjoint(known) else own).append((index, extender))
    profiles = given.configuration.profiles
    return Sorted(
        own=tuple(own),
        others=tuple(others),
        schedulers=frozenset(each.scheduler_name or "" for each in profiles),
    )


def _names(spec: PodSpec) -> Iterator[str]:
    """Yield the names of the resources that the containers state, whatever the quantity."""
    for container in (*spec.containers, *spec.init_containers):
        for name, _ in (*container.requests, *container.limits):
            yield name


# What the answer says


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the extenders: a report for each that is concerned, and sentences for people."""

    reports: tuple[ExtenderReport, ...] = ()
    notes: tuple[str, ...] = ()


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What came of calling one extender: its calls, and the questions it failed to answer, by how."""

    extender: Extender
    calls: int
    failures: Mapping[Failed, int]


def assumed(found: Sorted, pods: Sequence[Pod]) -> Account:
    """Return the account of a plan that calls nobody."""
    counts = {
        extender.url_prefix: count
        for _, extender in found.others
        if (count := interested(found, extender, pods))
    }
    return Account(
        reports=(
            *_simulated(_own(found, pods)),
            *(ExtenderReport(extender=name, treatment="Assumed") for name in counts),
        ),
        notes=tuple(
            f"The scheduler extender {name} is not called, and taken to agree to every node for "
            f"{_pods(count)}; --call-extenders asks it."
            for name, count in counts.items()
        ),
    )


def called(
    found: Sorted, pods: Sequence[Pod], tallies: Sequence[Tally], *, is_configured: bool
) -> Account:
    """Return the account of a plan that has called whom there was to call."""
    own = _own(found, pods)
    return Account(
        reports=(*_simulated(own), *map(_report, tallies)),
        notes=(
            *(() if found.others or own else (_nobody(is_configured=is_configured),)),
            *(
                f"The scheduler extender {name} is not called: it manages devices, for which "
                "Springtide's own rules answer in its place."
                for name in own
            ),
            *(
                _passed_over(tally)
                for tally in tallies
                if tally.extender.ignorable and tally.failures
            ),
        ),
    )


def interested(found: Sorted, extender: Extender, pods: Iterable[Pod]) -> int:
    """Return in how many of the pods the extender has a say."""
    counts = Counter(pod.spec for pod in pods)
    return sum(count for spec, count in counts.items() if found.is_interested(extender, spec))


def _own(found: Sorted, pods: Sequence[Pod]) -> list[str]:
    return [each.url_prefix for _, each in found.own if interested(found, each, pods)]


def _simulated(names: Iterable[str]) -> list[ExtenderReport]:
    return [ExtenderReport(extender=name, treatment="Simulated") for name in names]


def _report(tally: Tally) -> ExtenderReport:
    failures = tally.failures
    return ExtenderReport(
        extender=tally.extender.url_prefix,
        treatment="Called",
        is_ignorable=tally.extender.ignorable,
        calls=tally.calls,
        failures=sum(failures.values()),
        unanswered=sum(count for each, count in failures.items() if not each.is_answer),
        error=next((each.text for each in sorted(failures, key=lambda each: each.is_answer)), ""),
    )


def _passed_over(tally: Tally) -> str:
    count = sum(tally.failures.values())
    times = "once" if count == 1 else f"{count} times"
    first = next(iter(tally.failures)).text
    return (
        f"The scheduler extender {tally.extender.url_prefix} failed {times} and was passed over, as "
        f"its configuration allows (ignorable): {first}."
    )


def _nobody(*, is_configured: bool) -> str:
    if is_configured:
        return "No scheduler extender is called, because the configuration names none to call."
    return (
        "No scheduler extender is called, because the input has no KubeSchedulerConfiguration; add "
        "that of the scheduler."
    )


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"

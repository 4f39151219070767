"""Device profiles of an input held against its nodes: input in, report out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from springtide.apps.planner.compose import problem_reports
from springtide.apps.planner.families import Policies
from springtide.apps.planner.setting import families_of, input_report
from springtide.apps.profiles.report import NodeVerdict, ProfileReport, ProfilesReport, Verdict
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.profiles.comparing import Registered, compared
from springtide.engine.profiles.judging import expectation
from springtide.engine.profiles.matching import named, selecting
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile, FamilyDevices, unknown_vendor
from springtide.wire.documents import Input

DIFFERENT: Final = frozenset({Verdict.MISMATCH, Verdict.MALFORMED, Verdict.INVALID})
_WORST_FIRST: Final = (
    Verdict.MALFORMED,
    Verdict.MISMATCH,
    Verdict.UNREGISTERED,
    Verdict.EXCEEDS,
    Verdict.VERIFIED,
)
_KIND: Final = "DeviceProfile"


def run(found: Input) -> ProfilesReport:
    """Return how all profiles stand; raises `InvalidInput` for a device configuration that cannot be."""
    families = families_of(found, Policies())
    usable = {each.name: each for each in found.profiles if not unknown_vendor(each, families)}
    on = _by_profile(found.nodes, usable, families)
    reports = sorted(
        [
            *(_report(each, on.get(each.name, ()), found.sources) for each in usable.values()),
            *_invalid(found, families),
        ],
        key=lambda each: each.name,
    )
    others = [each for each in found.problems if not each.object.startswith(_KIND)]
    return ProfilesReport(
        summary=_summary(reports),
        agrees=all(each.verdict not in DIFFERENT for each in reports),
        profiles=tuple(reports),
        input=input_report(found, ()),
        problems=problem_reports(others),
    )


def registered(node: Node, families: Mapping[str, DeviceFamily]) -> Registered:
    """Return what a node registers, by family."""
    answers = ((name, each.inventory(node)) for name, each in families.items())
    return {name: each for name, each in answers if each is not None}


def described(devices: FamilyDevices) -> str:
    """Return devices in short: `8 × NVIDIA-A100-SXM4-80GB`, equal ones that follow each other together."""
    runs = ((len(list(run)), kind) for _, own in devices for kind, run in groupby(own, key=_short))
    return ", ".join(f"{count} × {kind}" for count, kind in runs)


def _short(device: Device) -> str:
    return device.type


def _by_profile(
    nodes: Sequence[Node],
    usable: Mapping[str, DeviceProfile],
    families: Mapping[str, DeviceFamily],
) -> dict[str, list[NodeVerdict]]:
    found: dict[str, list[NodeVerdict]] = {}
    for node in nodes:
        own = named(node)
        names = (own,) if own else selecting(usable, node)[:1]
        for name in names:
            if name in usable:
                verdict = _verdict(usable[name], node, registered(node, families))
                found.setdefault(name, []).append(verdict)
    return found


def _verdict(profile: DeviceProfile, node: Node, own: Registered) -> NodeVerdict:
    comparison = compared(expectation(profile), own)
    return NodeVerdict(
        node=node.name, verdict=Verdict(comparison.outcome.value), why=comparison.text
    )


def _report(
    profile: DeviceProfile, nodes: Sequence[NodeVerdict], sources: Mapping[str, str]
) -> ProfileReport:
    first = min(nodes, key=lambda each: _WORST_FIRST.index(each.verdict), default=None)
    verdict = Verdict.NO_NODES if first is None else first.verdict
    return ProfileReport(
        name=profile.name,
        source=sources.get(f"{_KIND}/{profile.name}", ""),
        verdict=verdict,
        why="" if first is None or not first.why else f"on {first.node} {first.why}",
        devices=described(profile.devices),
        node_selector=str(profile.selector),
        homogeneity=profile.homogeneity.value,
        on_mismatch=profile.on_mismatch.value,
        registration_timeout_s=profile.registration_timeout_s,
        degraded=profile.degraded,
        nodes=tuple(nodes),
    )


def _invalid(found: Input, families: Mapping[str, DeviceFamily]) -> Iterator[ProfileReport]:
    """Yield the profiles that are of no use: wrong in themselves, or beside each other."""
    for problem in found.problems:
        if problem.object.startswith(_KIND):
            yield _unusable(problem)
    for profile in found.profiles:
        if fault := unknown_vendor(profile, families):
            name = f"{_KIND}/{profile.name}"
            field = "spec.devices[].vendor"
            source = found.sources.get(name, "")
            yield _unusable(Problem(source=source, object=name, field=field, message=fault))


def _unusable(problem: Problem) -> ProfileReport:
    name = problem.object.removeprefix(_KIND).removeprefix("/").strip()
    why = f"{problem.field}: {problem.message}" if problem.field else problem.message
    return ProfileReport(name=name, source=problem.source, verdict=Verdict.INVALID, why=why)


def _summary(reports: Sequence[ProfileReport]) -> str:
    if not reports:
        return "There is no device profile in the input."
    differing = sum(each.verdict in DIFFERENT - {Verdict.INVALID} for each in reports)
    invalid = sum(each.verdict is Verdict.INVALID for each in reports)
    counted = f"{len(reports)} device {'profile' if len(reports) == 1 else 'profiles'}"
    told = [
        f"nodes differ from {differing}" if differing else "",
        f"{invalid} cannot be used" if invalid else "",
    ]
    parts = [each for each in told if each]
    if not parts:
        return f"{counted}: no node differs."
    return f"{counted}: {', and '.join(parts)}."

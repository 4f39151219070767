"""Recorded answers of kube-scheduler about its configuration, compared with ours.

A document goes the product's own way: decoded strictly, filled in, validated, set up. Each step's
recorded outcome is compared; texts must be equal but for places in the source code of the build.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from springtide.engine.framework.profiles import CannotSetUp, Profile, Scheduler, set_up
from springtide.model.scheduler import SchedulerConfiguration
from springtide.wire.kubescheduler import (
    CONSTRUCTION_FAULTS,
    Complaint,
    from_text,
    stated,
    validation_faults,
)

Case = Mapping[str, Any]

_SOURCE: Final = re.compile(r' in scheme ".*?"')


def replay_configuration(case: Case) -> list[str]:
    """Return where our reading of the document differs from the recorded one."""
    ours, expected = _answer(case["document"]), case["expect"]
    return [
        f"{name}: recorded {recorded!r}, ours {ours.get(name)!r}"
        for name in sorted(expected.keys() | ours.keys())
        if (recorded := _recorded(name, expected.get(name))) != ours.get(name)
    ]


def _recorded(name: str, value: Any) -> Any:
    match name:
        case "decode_error" if value is not None:
            return _SOURCE.sub("", value)
        case "defaulted" if value is not None:
            # Fields that are left out and fields that say nothing are the same.
            return stated(msgspec.json.encode(value))
        case "effective" if value is not None:
            return {profile: dict(points) for profile, points in value.items()}
        case _:
            return value


def _answer(document: str) -> dict[str, Any]:
    try:
        configuration = from_text(document)
    except Complaint as fault:
        return {"decode_error": fault.text}
    answer: dict[str, Any] = {"defaulted": configuration}
    faults = [fault.text for fault in validation_faults(configuration)]
    if faults:
        joined = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
        return answer | {"validation_error": joined, "validation_errors": faults}
    try:
        files = [file for file in _files(configuration) if not Path(file).exists()]
        scheduler = set_up(configuration, CONSTRUCTION_FAULTS, missing_files=files)
    except CannotSetUp as fault:
        return answer | {"build_error": fault.text}
    return answer | _effective(scheduler)


def _files(configuration: SchedulerConfiguration) -> Iterator[str]:
    for extender in configuration.extenders:
        tls = extender.tls_config
        if tls is not None:
            yield from filter(None, (tls.ca_file, tls.cert_file, tls.key_file))


def _effective(scheduler: Scheduler) -> dict[str, Any]:
    found: dict[str, Any] = {
        "effective": {profile.name: _points(profile) for profile in scheduler.profiles}
    }
    if scheduler.extenders:
        order = [extender.url_prefix for extender in scheduler.extenders]
        found["extender_order"] = order
    return found


def _points(profile: Profile) -> dict[str, Any]:
    points: dict[str, Any] = {name: list(each) for name, each in profile.plugins.points.items()}
    weights = [{"name": name, "weight": weight} for name, weight in profile.plugins.weights]
    return points | {"score": weights}

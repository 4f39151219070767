"""Reports as JSON, as YAML and as names, for programs."""

from typing import Final

import msgspec
import yaml

from springtide.apps.planner.report import PlanReport

INDENT: Final = 2
# Long enough that no sentence is broken; the C library takes no infinity.
LINE_MAX: Final = 1_000_000


def as_json(report: msgspec.Struct) -> str:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=INDENT).decode()


def as_yaml(report: msgspec.Struct) -> str:
    """Return the report as a YAML document."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(
        msgspec.to_builtins(report),
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        width=LINE_MAX,
    )
    return str(text).rstrip("\n")


def as_names(report: PlanReport) -> str:
    """Return the groups to grow as resource names, one a line."""
    return "\n".join(
        f"nodegroup.springtide.io/{group.name}"
        for group in report.groups
        if group.size_after > group.size_before
    )

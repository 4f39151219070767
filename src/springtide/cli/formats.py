"""Reports as JSON, as YAML and as names, for programs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

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


def as_documents(
    documents: Sequence[Mapping[str, Any]],
    output: Literal["yaml", "json"],
    *,
    is_compact: bool = False,
) -> str:
    """Return objects as documents of YAML, or as JSON, in a List if there are several.

    If compact, what holds nothing but values stands in one line, such as a device's scores.
    """
    if output == "yaml":
        dumped = (
            yaml.safe_dump(
                each,
                sort_keys=False,
                allow_unicode=True,
                width=LINE_MAX,
                default_flow_style=None if is_compact else False,
            )
            for each in documents
        )
        return "---\n".join(dumped).rstrip("\n")
    whole: Mapping[str, Any] = (
        documents[0]
        if len(documents) == 1
        else {"apiVersion": "v1", "kind": "List", "items": documents}
    )
    return msgspec.json.format(msgspec.json.encode(whole), indent=INDENT).decode()


def as_names(report: PlanReport) -> str:
    """Return the groups to grow as resource names, one a line."""
    return "\n".join(
        f"nodegroup.springtide.io/{group.name}"
        for group in report.groups
        if group.size_after > group.size_before
    )

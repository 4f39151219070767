"""Prints the JSON Schema of an answer, made from the records that hold it.

`python tools/schema.py NAME` prints that of `springtide NAME`. `make schema` writes all of them to
docs/schema; tools/tidy.py says if one is stale.
"""

import json
import sys
from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.apps.headroom import HeadroomReport
from springtide.apps.planner.report import API_VERSION, PlanReport

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

REPORTS: Final[Mapping[str, tuple[str, type]]] = {
    "plan": ("Plan", PlanReport),
    "headroom": ("Headroom", HeadroomReport),
}


def schema(name: str) -> dict[str, object]:
    """Returns the schema of a command's answer, its definitions in the order of their names."""
    title, report = REPORTS[name]
    made = msgspec.json.schema(report)
    definitions = {name: made["$defs"][name] for name in sorted(made["$defs"])}
    return {
        "$schema": DIALECT,
        "title": f"{title} of {API_VERSION}: what `springtide {name} -o json` prints",
        "$ref": made["$ref"],
        "$defs": definitions,
    }


if __name__ == "__main__":
    print(json.dumps(schema(sys.argv[1]), indent=2, ensure_ascii=False))

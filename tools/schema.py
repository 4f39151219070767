"""Prints the JSON Schema of the plan's answer, made from the records that hold it.

`make schema` writes it to docs/schema/plan.v1alpha1.json; tools/tidy.py says if that file is stale.
"""

import json
from typing import Final

import msgspec

from springtide.apps.planner.report import API_VERSION, PlanReport

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, object]:
    """Returns the schema, its definitions in the order of their names."""
    made = msgspec.json.schema(PlanReport)
    definitions = {name: made["$defs"][name] for name in sorted(made["$defs"])}
    return {
        "$schema": DIALECT,
        "title": f"Plan of {API_VERSION}: what `springtide plan -o json` prints",
        "$ref": made["$ref"],
        "$defs": definitions,
    }


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2, ensure_ascii=False))

"""Prints the JSON Schema of an answer, made from the records that hold it: `schema.py [plan|why]`.

`make schema` writes them to docs/schema/; tools/tidy.py says if a file there is stale.
"""

import json
import sys
from typing import Final

import msgspec

from springtide.apps.planner.report import API_VERSION, PlanReport
from springtide.apps.why.report import WhyReport

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ANSWERS: Final[dict[str, type[msgspec.Struct]]] = {"plan": PlanReport, "why": WhyReport}


def schema(command: str) -> dict[str, object]:
    """Returns the schema of a command's answer, its definitions in the order of their names."""
    made = msgspec.json.schema(ANSWERS[command])
    definitions = {name: made["$defs"][name] for name in sorted(made["$defs"])}
    return {
        "$schema": DIALECT,
        "title": f"{command.title()} of {API_VERSION}: what `springtide {command} -o json` prints",
        "$ref": made["$ref"],
        "$defs": definitions,
    }


if __name__ == "__main__":
    named = sys.argv[1] if len(sys.argv) > 1 else "plan"
    print(json.dumps(schema(named), indent=2, ensure_ascii=False))

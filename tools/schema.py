"""Prints the JSON Schema of an answer, or the OpenAPI of a process, made from the records that hold it.

`python tools/schema.py NAME` prints that of `springtide NAME`. `make schema` writes all of them to
docs/schema; tools/tidy.py says if one is stale.
"""

import json
import sys
from collections.abc import Callable
from typing import Final

import msgspec

from springtide.apps.bench.report import BenchReport
from springtide.apps.extender import endpoints as extender
from springtide.apps.headroom import HeadroomReport
from springtide.apps.planner.report import API_VERSION, PlanReport
from springtide.apps.profiles.report import ProfilesReport
from springtide.apps.replay import ReplayReport
from springtide.apps.simulation import endpoints as simulation
from springtide.apps.why.report import WhyReport

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ANSWERS: Final[dict[str, type[msgspec.Struct]]] = {
    "plan": PlanReport,
    "why": WhyReport,
    "headroom": HeadroomReport,
    "bench": BenchReport,
    "replay": ReplayReport,
    "profile": ProfilesReport,
}
APIS: Final[dict[str, Callable[[], dict[str, object]]]] = {
    "extender": extender.openapi,
    "simulation": simulation.openapi,
}
"""Processes that serve an API, and what makes its document."""
CALLED: Final = {"bench": "bench openb", "profile": "profile check"}
"""Commands that are called otherwise than their answers."""


def schema(command: str) -> dict[str, object]:
    """Returns the schema of a command's answer, its definitions in the order of their names."""
    called = CALLED.get(command, command)
    made = msgspec.json.schema(ANSWERS[command])
    definitions = {name: made["$defs"][name] for name in sorted(made["$defs"])}
    return {
        "$schema": DIALECT,
        "title": f"{command.title()} of {API_VERSION}: what `springtide {called} -o json` prints",
        "$ref": made["$ref"],
        "$defs": definitions,
    }


if __name__ == "__main__":
    name = sys.argv[1]
    made = APIS[name]() if name in APIS else schema(name)
    print(json.dumps(made, indent=2, ensure_ascii=False))

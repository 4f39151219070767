"""What the documentation shows is what is answered."""

import json
import re
from pathlib import Path

from springtide.apps.sessions import filter_simulation, rules
from springtide.engine.simulation.bounds import Bounds
from tests.simulating import PODS, Json, read, reasons

PAGE = Path(__file__).resolve().parents[4] / "docs" / "simulation.md"


def examples() -> list[str]:
    """The JSON texts of the page, in order."""
    return re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_call_is_answered_as_it_is_shown() -> None:
    call, shown = (json.loads(each) for each in examples()[:2])

    answer = read(filter_simulation(json.dumps(call).encode(), rules()).body)

    assert answer["Nodes"]["items"] == call["Nodes"]["items"][:1]
    assert {**answer, "Nodes": None} == {**shown, "Nodes": None}


def test_the_pods_that_a_node_carries_are_read_as_they_are_shown() -> None:
    call, _, standing = (json.loads(each) for each in examples()[:3])
    node: Json = call["Nodes"]["items"][0]
    node["metadata"]["annotations"][PODS] = json.dumps(standing)

    answer = read(filter_simulation(json.dumps(call).encode(), rules()).body)

    assert reasons(answer)["template-a10"] == "1/1 CardInsufficientMemory"


def test_the_bounds_are_those_that_are_told() -> None:
    bounds, text = Bounds(), " ".join(PAGE.read_text(encoding="utf-8").split())

    for told in (
        f"{bounds.operations_max:,} changes",
        f"{bounds.answers_bytes_max >> 20} MiB of answers",
        f"{bounds.lease_s:.0f} s",
        f"{bounds.lease_s_max / 60:.0f} minutes",
        f"{bounds.sessions_per_client_max} sessions a client",
        f"{bounds.session_nodes_max:,} nodes",
        f"{bounds.session_pods_max:,} pods",
        f"{bounds.batch_max:,} items",
        f"{bounds.levels_max} open forks",
    ):
        assert told in text, told

"""PodDisruptionBudgets as model records."""

import json
from typing import Any

from springtide.base.selectors import label_selector
from springtide.model.disruption import DisruptionBudget
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source


def budget(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "team"} if name else {},
        **fields,
    }


def read(*items: dict[str, Any]) -> Input:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(items)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def test_a_budget_is_read_with_what_is_left_of_it() -> None:
    full = budget(
        "db",
        spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "db"}}},
        status={
            "disruptionsAllowed": 2,
            "disruptedPods": {"db-0": "2026-01-01T00:00:00Z"},
            "currentHealthy": 4,
        },
    )

    found = read(full)

    assert found.budgets == (
        DisruptionBudget(
            namespace="team",
            name="db",
            selector=label_selector({"app": "db"}),
            allowed=2,
            going=frozenset({"db-0"}),
        ),
    )
    assert found.counts == {"PodDisruptionBudget": 1}


def test_a_budget_that_no_controller_has_seen_allows_nothing() -> None:
    (found,) = read(budget("db", spec={})).budgets

    assert (found.selector, found.allowed) == (None, 0)


def test_a_broken_budget_costs_itself_only() -> None:
    odd = budget("odd", status={"disruptionsAllowed": "many"})

    found = read(budget("", spec={}), odd, budget("db", spec={}), budget("db", spec={}))

    assert [each.name for each in found.budgets] == ["db"]
    assert [(each.object, each.field) for each in found.problems] == [
        ("PodDisruptionBudget at items[0]", "metadata.name"),
        ("PodDisruptionBudget/team/odd", "status.disruptionsAllowed"),
        ("PodDisruptionBudget/team/db", ""),
    ]

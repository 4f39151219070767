"""What a configuration must say before objects are made of it, with the field and the remedy."""

from typing import Any

import pytest

from springtide.apps.manifests import Choices, Fallback, Unchosen, demand, settled
from springtide.wire.errors import InvalidDocument
from tests.manifesting import CHOSEN, ORIGIN, chosen, settings

DEPLOYMENT = {"name": "chat", "kind": "Deployment"}


def demanded(choices: Choices | None = None, **fields: Any) -> None:
    """Demand what must be said."""
    demand(settings(**fields), choices or chosen(), origin=ORIGIN)


def test_a_good_configuration_is_taken() -> None:
    demanded()
    demanded(workload=DEPLOYMENT, deployment={"coordination": True})
    demanded(chosen(kubernetes=(1, 32), fallback=Fallback.CLUSTER_FLAG))


def test_k_6_a_deployment_needs_coordination() -> None:
    """Covers R-38 in part."""
    with pytest.raises(InvalidDocument) as refused:
        demanded(workload=DEPLOYMENT)

    assert refused.value.field == "deployment.coordination"
    assert "write true, or make the workload a StatefulSet" in str(refused.value)


def test_h_12_a_limit_below_what_holds_state_is_refused() -> None:
    """Covers R-57 in part."""
    with pytest.raises(InvalidDocument) as refused:
        demanded(chosen(floor=12), replicas={"min": 2, "max": 8})

    assert refused.value.field == "replicas.max"
    assert "8 is below 12" in str(refused.value)
    demanded(chosen(floor=8), replicas={"min": 2, "max": 8})


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a kind that nobody knows": ({"workload": {"name": "c", "kind": "CloneSet"}}, "workload.kind"),
    "no replicas at all": ({"replicas": {"min": 0, "max": 9}}, "replicas.min"),
    "an older fleet without any": (
        {"profile": "legacy", "replicas": {"min": 0, "max": 9}},
        "replicas.min",
    ),
    "no limit": ({"replicas": {"min": 1}}, "replicas.max"),
}


@pytest.mark.parametrize(("fields", "field"), BAD.values(), ids=BAD)
def test_what_cannot_be_names_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        demanded(**fields)

    assert refused.value.field == field


def test_older_servers_demand_a_choice() -> None:
    with pytest.raises(Unchosen, match=r"11 is never reached from 10.*--tolerance-fallback"):
        demanded(chosen(kubernetes=(1, 32)))


def test_whose_pods_and_where_must_be_known() -> None:
    with pytest.raises(Unchosen, match="--namespace"):
        settled(Choices(selector=CHOSEN.selector), settings(), None)
    with pytest.raises(Unchosen, match="--selector"):
        settled(Choices(namespace="game"), settings(), None)

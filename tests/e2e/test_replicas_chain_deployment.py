"""The whole chain with a Deployment: who drained goes, and after a wrong victim nobody does."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chain_documents import DOWN
from tests.e2e.chains import Chain, chained
from tests.e2e.companies import Company, stays
from tests.e2e.conftest import Planes
from tests.e2e.objects import PODS
from tests.e2e.waiting import eventually
from tests.standin.bodies import Body

LOOK_S: Final = 6.0
"""Members look who is there every five seconds."""
COST: Final = "controller.kubernetes.io/pod-deletion-cost"

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def chain(planes: Planes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """The chain for a Deployment."""
    folder = tmp_path_factory.mktemp("chain")
    with chained(planes, folder, town={"kind": "Deployment"}) as found:
        yield found


@pytest.fixture(scope="module")
def town(chain: Chain) -> Iterator[Company]:
    """A Deployment whose members coordinate."""
    found = chain.companies["town"]
    found.load = 350
    found.begins(4, "--allow-scale-down")
    yield found
    found.ends()


def test_members_of_a_deployment_go_when_they_drained_and_no_others(
    chain: Chain, town: Company
) -> None:
    """Covers R-38."""
    town.carries(4)
    town.load = 220
    since_s = time.monotonic()

    costs = eventually(lambda: marked(town), lambda found: "-1000" in found.values(), limit_s=90)
    town.settles(3)
    stays(town, 3)

    (drained,) = (pod for pod, cost in costs.items() if cost == "-1000")
    gone = chain.watch.deletions("town-", since_s=since_s)
    assert [(each.pod, each.short) for each in gone] == [(drained, "T0R0 deleted")]
    assert sorted(costs.values()) == ["-1000", "1000", "1000", "1000"]


def test_after_a_wrong_victim_a_deployment_is_frozen_until_somebody_thaws_it(
    chain: Chain, town: Company
) -> None:
    """Covers R-38."""
    number, _, _ = town.replicas()
    town.carries(number)
    # Only who was seen can be missed.
    eventually(lambda: set(marked(town).values()), lambda found: found == {"1000"}, limit_s=90)
    stays(town, number, for_s=LOOK_S)
    since_s = time.monotonic()

    # Whoever scales by hand takes the autoscaler away, which would set it back at once.
    chain.kubectl("delete", "hpa/town")
    chain.kubectl("scale", "deployment/town", f"--replicas={number - 1}")
    (taken,) = eventually(lambda: chain.watch.deletions("town-", since_s=since_s), bool)
    _, said = eventually(town.leader, lambda found: bool(found[1].get("complaints")))
    town.apply("--allow-scale-down")
    town.settles(number)
    town.load = DOWN * (number - 1) - 20
    frozen = eventually(lambda: town.leader()[1].get("why", ""), lambda why: "So nothing" in why)
    stays(town, number, for_s=6)
    held = town.leader()[1]["round"]["expect"]
    town.command("thaw", "--operator=test")
    eventually(
        lambda: town.leader()[1].get("round", {}).get("expect"), lambda found: found == number - 1
    )

    assert taken.ready == "1"
    assert any(taken.pod in each["message"] for each in said["complaints"])
    assert f"{taken.pod} was taken away while it served" in frozen
    assert held == number


def marked(company: Company) -> dict[str, str]:
    """Return what it costs to delete each pod."""
    listed: list[Body] = company.grounds.plane.ask(
        "GET", f"{PODS}?labelSelector=app%3D{company.name}"
    )["items"]
    return {
        each["metadata"]["name"]: each["metadata"].get("annotations", {}).get(COST, "")
        for each in listed
    }

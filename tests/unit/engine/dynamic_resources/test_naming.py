"""The claims of a pod."""

import pytest
from msgspec.structs import replace

from springtide.engine.dynamic_resources.naming import (
    NO_CLAIMS,
    AskedClaim,
    DeviceAsk,
    claim_keys,
    device_ask,
)
from springtide.model.pod import Owner, Pod
from springtide.model.resource_claims import ClaimTemplate, ResourceClaim
from tests.offers import claim, claiming, content, given, objects, request

TWO = content(request(count=2))
MADE = replace(claiming(template="t"), made_claims=(("t", "made"),))
NOT_OWNER = "Pod default/pending (Pod is not owner)"
OWN = Owner(kind="Pod", name="pending", uid="pending")


def test_a_pod_without_claims_asks_nothing() -> None:
    assert device_ask(claiming(), objects()) is NO_CLAIMS


def test_a_claim_that_several_pods_may_use_goes_by_its_name() -> None:
    asked = device_ask(claiming("mine"), objects(claim("mine", TWO)))

    assert asked == DeviceAsk(claims=(AskedClaim(key="default/mine", content=TWO),))


def test_a_claim_that_is_made_for_the_pod_has_no_name_of_its_own() -> None:
    made = replace(claim("made", TWO), owner=OWN)

    asked = device_ask(MADE, objects(made))
    allocated = device_ask(MADE, objects(replace(made, allocation=given("d"))))

    assert asked == DeviceAsk(claims=(AskedClaim(content=TWO),))
    assert allocated.claims[0].key == "default/made"


def test_a_claim_that_is_still_to_be_made_asks_what_its_template_says() -> None:
    template = ClaimTemplate(namespace="default", name="t", content=TWO)

    asked = device_ask(claiming(template="t"), objects(template))

    assert asked == DeviceAsk(claims=(AskedClaim(content=TWO),))


def test_a_claim_that_is_not_needed_is_left_out() -> None:
    pod = replace(claiming(template="t"), made_claims=(("t", ""),))

    assert device_ask(pod, objects()) == NO_CLAIMS


@pytest.mark.parametrize(
    ("pod", "claims", "fault"),
    [
        (claiming("mine"), [], 'could not find ResourceClaim "default/mine"'),
        (claiming(template="t"), [], 'pod "default/pending": ResourceClaim not created yet'),
        (
            MADE,
            [claim("made")],
            "ResourceClaim default/made was not created for Pod default/pending (Pod is not owner)",
        ),
        (
            claiming("mine"),
            [replace(claim("mine"), is_terminating=True)],
            'resourceclaim "mine" is being deleted',
        ),
    ],
)
def test_a_claim_that_the_pod_cannot_have_is_a_fault(
    pod: Pod, claims: list[ResourceClaim], fault: str
) -> None:
    assert device_ask(pod, objects(*claims)) == DeviceAsk(fault=fault)


def test_the_claims_that_exist_for_a_pod_are_known_by_name() -> None:
    assert list(claim_keys(MADE)) == ["default/made"]
    assert list(claim_keys(claiming("a", template="t"))) == ["default/a"]

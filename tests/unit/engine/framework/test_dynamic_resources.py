"""DynamicResources: claims of devices."""

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.base import quantity
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.claims_check import ClaimsCheck
from springtide.engine.framework.dynamic_resources import (
    DEALLOCATED,
    DynamicResources,
    deallocation,
    pre_enqueue,
)
from springtide.engine.framework.framework import PASSES, Framework
from springtide.engine.framework.rule import SKIPPED, Ready, Rejected
from springtide.model.device_slices import DeviceClass, NodeScope, ResourceSlice
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import (
    ClaimAllocation,
    ClaimTemplate,
    DeviceObjects,
    HeldClaim,
)
from tests.builders import term
from tests.offers import (
    ByAttribute,
    claim,
    claiming,
    content,
    given,
    objects,
    offered,
    request,
    sliced,
)
from tests.unit.engine.framework.asking import ledger_of, pod, roomy, unresolvable

NAME = "DynamicResources"
CANNOT = unresolvable(NAME, "cannot allocate all claims")
ONE_EACH = tuple(sliced(offered("d", {"model": "a"}), node=name) for name in "ab")
TEMPLATE = ClaimTemplate(namespace="default", name="t", content=content(request()))
GPU = "example.com/gpu"
EXTENDED = DeviceClass(name="extended", extended_resource=GPU)


def judged(pending: Pod, found: DeviceObjects, ledger: Ledger) -> list[Refusal | None]:
    """Return what each node says to a pod."""
    framework = Framework(devices=found, selectors=ByAttribute())
    prepared = framework.prepare(ask_of(pending, devices=found), ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(ledger.count))
    rows = zip(
        verdicts.rule.tolist(),
        verdicts.detail.tolist(),
        verdicts.unresolvable.tolist(),
        strict=True,
    )
    return [
        None if code == PASSES else framework.refusal(prepared, code, bits, is_final)
        for code, bits, is_final in rows
    ]


def cluster() -> Ledger:
    """Return a ledger of the nodes `a`, `b` and `c`."""
    return ledger_of([roomy(name) for name in "abc"])


def check_of(pending: Pod, found: DeviceObjects, ledger: Ledger) -> ClaimsCheck:
    prepared = DynamicResources(found, ByAttribute()).prepare(
        ask_of(pending, devices=found), ledger
    )
    assert isinstance(prepared, Ready)
    assert isinstance(prepared.check, ClaimsCheck)
    return prepared.check


def extended(count: int) -> Pod:
    """Return a pod that asks for an extended resource."""
    asked = ((GPU, quantity.of(count)),)
    return pod(PodSpec(containers=(Container(name="main", requests=asked),)))


@pytest.mark.parametrize("found", [None, objects(*ONE_EACH)])
def test_a_pod_without_claims_is_none_of_its_business(found: DeviceObjects | None) -> None:
    rule = DynamicResources(found, None if found is None else ByAttribute())

    assert rule.prepare(ask_of(claiming(), devices=found), cluster()) is SKIPPED
    assert not rule.is_asked(ask_of(claiming(), devices=found))


def test_without_objects_claims_are_not_looked_at() -> None:
    rule = DynamicResources()

    assert rule.prepare(ask_of(claiming("mine")), cluster()) is SKIPPED
    assert not rule.reads_elsewhere(ask_of(claiming("mine")))


def test_nodes_with_free_devices_take_the_pod() -> None:
    used = claim("used", allocation=given("d", pool="b"))

    answers = judged(claiming(template="t"), objects(*ONE_EACH, TEMPLATE, used), cluster())

    assert answers == [None, CANNOT, CANNOT]


@pytest.mark.parametrize(
    ("pending", "reason"),
    [
        (claiming("absent"), 'could not find ResourceClaim "default/absent"'),
        (claiming("classless"), "request r: device class none does not exist"),
    ],
)
def test_a_claim_or_class_that_is_not_there_rejects_the_pod(pending: Pod, reason: str) -> None:
    found = objects(claim("classless", content(request(class_name="none"))))
    rule = DynamicResources(found, ByAttribute())

    prepared = rule.prepare(ask_of(pending, devices=found), cluster())

    assert prepared == Rejected(unresolvable(NAME, reason))


def test_a_claim_that_is_not_there_keeps_the_pod_out_of_the_queue() -> None:
    found = objects(claim())

    refusal = pre_enqueue(ask_of(claiming("absent"), devices=found))

    assert refusal == unresolvable(NAME, 'could not find ResourceClaim "default/absent"')
    assert pre_enqueue(ask_of(claiming("mine"), devices=found)) is None
    assert pre_enqueue(ask_of(claiming())) is None


def test_a_claim_with_devices_is_used_where_these_are() -> None:
    in_zone = ClaimAllocation(given("d").devices, (term("zone", "In", "z"),))
    found = objects(claim(allocation=in_zone))
    ledger = ledger_of([roomy("a"), roomy("b", {"zone": "z"})])

    answers = judged(claiming("mine"), found, ledger)

    assert answers == [unresolvable(NAME, "resourceclaim not available on the node"), None]


def test_a_fault_is_told_from_a_refusal() -> None:
    lacking = sliced(offered("d"), node="b")
    found = objects(ONE_EACH[0], lacking, claim(asked=content(request(selector="model=a"))))

    answers = judged(claiming("mine"), found, cluster())

    faults = [each is not None and each.is_fault for each in answers]
    assert faults == [False, True, False]


def test_devices_of_placed_pods_are_taken() -> None:
    ledger, found = cluster(), objects(*ONE_EACH, TEMPLATE)
    claims = check_of(claiming(template="t"), found, ledger).allocate(ledger, 0)
    assert claims is not None

    ledger.hold(Holding(uid="first", row=0, device_claims=claims))

    assert judged(claiming(template="t"), found, ledger) == [CANNOT, None, CANNOT]
    assert check_of(claiming(template="t"), found, ledger).allocate(ledger, 0) is None
    ledger.release("first")
    assert judged(claiming(template="t"), found, ledger) == [None, None, CANNOT]


def test_pods_share_a_claim_and_its_devices() -> None:
    ledger, found = cluster(), objects(*ONE_EACH, claim())
    first = check_of(claiming("mine"), found, ledger).allocate(ledger, 0)
    assert first is not None
    ledger.hold(Holding(uid="first", row=0, device_claims=first))

    second = check_of(claiming("mine"), found, ledger).allocate(ledger, 0)

    assert second == first
    assert [each is None for each in judged(claiming("mine"), found, ledger)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("pending", "pools", "lasts"),
    [
        (claiming(template="t"), ONE_EACH, True),
        (claiming("mine"), ONE_EACH, False),
        (claiming("given"), ONE_EACH, True),
        (
            claiming(template="t"),
            (sliced(offered("d"), scope=NodeScope(is_everywhere=True)),),
            False,
        ),
    ],
)
def test_an_answer_lasts_unless_claims_or_devices_are_shared(
    pending: Pod, pools: tuple[ResourceSlice, ...], *, lasts: bool
) -> None:
    found = objects(*pools, TEMPLATE, claim(), claim("given", allocation=given("d")))

    prepared = DynamicResources(found, ByAttribute()).prepare(
        ask_of(pending, devices=found), cluster()
    )

    assert isinstance(prepared, Ready)
    assert (prepared.elsewhere is None) == lasts


def test_extended_resources_are_served_by_devices_where_nodes_have_none_themselves() -> None:
    nodes = [
        roomy("a"),
        replace(roomy("b"), allocatable=(*roomy().allocatable, (GPU, quantity.of(1)))),
    ]
    found = objects(ONE_EACH[0], EXTENDED)

    one, two = (judged(extended(count), found, ledger_of(nodes)) for count in (1, 2))

    assert one == [None, None]
    assert two == [CANNOT, unresolvable("NodeResourcesFit", f"Insufficient {GPU}")]


def test_a_claim_for_extended_resources_names_its_containers() -> None:
    ledger, found = cluster(), objects(*ONE_EACH, EXTENDED)

    claims = check_of(extended(1), found, ledger).allocate(ledger, 1)

    assert claims is not None
    assert [
        (each.key, use.request, use.pool) for each in claims for use in each.allocation.devices
    ] == [("", "container-0-request-0", "b")]


def test_a_new_node_has_the_devices_of_its_record() -> None:
    found = objects(*ONE_EACH, TEMPLATE)
    template = replace(roomy("template"), device_slices=(ONE_EACH[0],))
    ledger = Ledger()
    rows = [ledger.add_node(template, name=name) for name in ("new-1", "new-2")]
    claims = check_of(claiming(template="t"), found, ledger).allocate(ledger, rows[0])
    assert claims is not None

    ledger.hold(Holding(uid="first", row=rows[0], device_claims=claims))

    assert claims[0].allocation.devices[0].pool == "a-new-1"
    assert judged(claiming(template="t"), found, ledger) == [CANNOT, None]


@pytest.mark.parametrize(
    ("users", "said"), [((), DEALLOCATED), (("pending",), DEALLOCATED), (("other",), "")]
)
def test_a_claim_out_of_reach_gives_its_devices_back_unless_others_use_it(
    users: tuple[str, ...], said: str
) -> None:
    elsewhere = ClaimAllocation(given("d").devices, (term("zone", "In", "z"),))
    found, ledger = objects(claim(allocation=elsewhere, users=users)), cluster()

    unavailable = check_of(claiming("mine"), found, ledger).unavailable(ledger, range(3))

    assert unavailable == {"default/mine"}
    assert deallocation("pending", unavailable, found) == said
    assert deallocation("pending", (), found) == ""


def test_scores_are_those_of_the_alternatives() -> None:
    found, ledger = objects(*ONE_EACH, claim()), cluster()

    assert check_of(claiming("mine"), found, ledger).scores(ledger, [0, 1]) == [0, 0]


def test_a_held_claim_is_counted_back() -> None:
    ledger = Ledger()
    ledger.add_node(Node(name="a"))

    ledger.hold(Holding(uid="p", row=0, device_claims=(HeldClaim("k", given("d")),)))

    ledger.check()

"""What pods ask of the family."""

import pytest

from springtide.engine.placement.score import Weights
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import FAMILY, Ascend, AscendAsk, config_from
from tests.unit.vendors.ascend.building import DEVICE_POLICY, SOFT, ask, container, pod

Limits = dict[str, str | int]


def test_a_request_has_memory_cores_and_its_chip() -> None:
    wish = ask(pod(container(count=1, memory=20000, core=30), annotations=SOFT))

    (request,) = wish.all_requests()
    assert (request.count, request.memory_mib, request.cores) == (1, 20000, 30)
    assert request.chip.word == "Ascend910B3"
    assert wish.is_soft


def test_containers_without_chips_keep_their_position() -> None:
    wish = ask(pod(container("a"), container("b", count=1), init=[container("i", count=2)]))

    assert [len(wanted or ()) for wanted in wish.requests] == [1, 0, 1]
    assert wish.init_count == 1


def test_one_container_may_ask_several_kinds_of_chip() -> None:
    both = {"huawei.com/Ascend910B3": 1, "huawei.com/Ascend310P": 2}

    wish = ask(pod(container(**both)))

    assert {each.chip.word: each.count for each in wish.all_requests()} == {
        "Ascend910B3": 1,
        "Ascend310P": 2,
    }


@pytest.mark.parametrize("limits", [{}, {"count": 0}, {"memory": 16384}, {"nvidia.com/gpu": 1}])
def test_a_pod_without_chips_asks_nothing(limits: Limits) -> None:
    assert FAMILY.ask(pod(container(**limits))) is None


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        ({"count": "500m"}, "huawei.com/Ascend910B3"),
        ({"count": "-1"}, "huawei.com/Ascend910B3"),
        ({"count": "3000000000"}, "huawei.com/Ascend910B3"),
        ({"count": 1, "memory": "16Gi"}, "huawei.com/Ascend910B3-memory"),
        ({"count": 1, "memory": "1.5"}, "huawei.com/Ascend910B3-memory"),
        ({"count": 1, "core": "2147483648"}, "huawei.com/Ascend910B3-core"),
    ],
)
def test_a_quantity_that_makes_no_sense_is_refused(limits: Limits, resource: str) -> None:
    refusal = FAMILY.ask(pod(container("odd", **limits), annotations=SOFT))

    assert isinstance(refusal, Refusal)
    assert f"container odd asks {resource}: " in refusal.text
    assert refusal.is_unresolvable


def test_the_memory_factor_multiplies_what_is_asked() -> None:
    chip = {
        "commonWord": "X",
        "resourceName": "x/n",
        "resourceMemoryName": "x/m",
        "memoryFactor": 4,
    }
    family = Ascend(config_from({"vnpus": {"configs": [chip]}}))

    wish = family.ask(pod(container(**{"x/n": 1, "x/m": 1000})))

    too_much = family.ask(pod(container(**{"x/n": 1, "x/m": 2**29})))

    assert isinstance(wish, AscendAsk)
    assert wish.all_requests()[0].memory_mib == 4000
    assert isinstance(too_much, Refusal)


def test_ids_are_asked_for_one_kind_of_chip() -> None:
    notes = {"hami.io/use-Ascend910B3-uuid": "a, b", "hami.io/no-use-Ascend910A-uuid": "c"}

    (request,) = ask(pod(container(count=1), annotations=notes)).all_requests()

    assert (request.use_ids, request.avoid_ids) == (("a", "b"), None)
    assert ask(pod(container(count=1), annotations=notes)).names_devices
    assert not ask(pod(container(count=1))).names_devices


def test_policies_come_from_annotations_over_flags() -> None:
    family = Ascend(node_policy="spread", device_policy="binpack")
    notes = {DEVICE_POLICY: "mutex", "hami.io/device-scoring-weights": "slot=1,core=0,memory=3"}

    wish = ask(pod(container(count=1), annotations=notes), family=family)

    assert (wish.node_policy, wish.device_policy) == ("spread", "mutex")
    assert wish.weights == Weights(slot=1, core=0, memory=3)


def test_weights_that_make_no_sense_are_refused() -> None:
    notes = {"hami.io/device-scoring-weights": "slot=1"}

    refusal = FAMILY.ask(pod(container(count=1), annotations=notes))

    assert isinstance(refusal, Refusal)
    assert "invalid hami.io/device-scoring-weights annotation" in refusal.text


def test_every_annotation_that_is_read_parts_classes() -> None:
    read = FAMILY.relevant_annotations()

    assert {"huawei.com/vnpu-mode", "hami.io/use-Ascend910C-uuid", DEVICE_POLICY} <= read

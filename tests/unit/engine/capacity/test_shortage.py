"""What people read behind `Insufficient cpu`."""

from springtide.engine.capacity.shortage import shortage
from springtide.engine.placement.classes import Classifier
from springtide.model.refusal import Refusal
from tests.builders import pod


def refusal(*reasons: str) -> Refusal:
    return Refusal(rule="NodeResourcesFit", reasons=reasons)


def test_a_shortage_says_what_was_asked_and_what_is_free() -> None:
    wanted = Classifier({}).classify(pod(cpu="12500m", memory="64Gi"))
    free = {"cpu": 7900, "memory": 31233 << 20}

    text = shortage(refusal("Insufficient cpu", "Insufficient memory"), wanted, free)

    assert text == "12500m cpu asked, 7900m free, 64Gi memory asked, 31233Mi free"


def test_a_resource_that_the_node_lacks_is_free_zero_times() -> None:
    wanted = Classifier({}).classify(pod(others={"example.com/dongle": 2}))

    text = shortage(refusal("Insufficient example.com/dongle"), wanted, {})

    assert text == "2 example.com/dongle asked, 0 free"


def test_a_node_full_of_pods_has_no_numbers() -> None:
    wanted = Classifier({}).classify(pod())

    assert shortage(refusal("Too many pods"), wanted, {}) == ""

"""What a pod asks: quantities, defaults and annotations."""

import pytest

from springtide.engine.placement.score import Weights
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY, Nvidia, NvidiaAsk, NvidiaConfig
from springtide.vendors.nvidia.ask import Request, request_of
from tests.unit.vendors.nvidia.building import ask, container, pod

DEFAULTS = NvidiaConfig()


def asked(config: NvidiaConfig = DEFAULTS, /, **limits: str | int) -> tuple[object, ...] | None:
    request = request_of(container(**limits), config)
    if request is None:
        return None
    assert isinstance(request, Request)
    return request.count, request.memory_mib, request.memory_pct, request.cores


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"gpu": 1, "cores": 100}, (1, 0, 100, 100)),
        ({"gpu": 2, "mem": 3000, "cores": 30}, (2, 3000, None, 30)),
        ({"gpu": 1, "pct": 50}, (1, 0, 50, 0)),
        ({"gpu": 1, "mem": 0}, (1, 0, 100, 0)),
        ({"gpu": 1, "pct": 0}, (1, 0, 100, 0)),
        ({"gpu": 1, "pct": 150}, (1, 0, 100, 0)),
        ({"gpu": 1, "mem": 3000, "pct": 50}, (1, 3000, 50, 0)),
        ({"gpu": "1k"}, (1000, 0, 100, 0)),
        ({"gpu": "2.0", "mem": "1000000m"}, (2, 1000, None, 0)),
        ({"gpu": 0, "mem": 1000}, None),
        ({"mem": 1000}, None),
        ({"cpu": 1}, None),
    ],
)
def test_quantities_become_a_request(
    limits: dict[str, str | int], expected: tuple[object, ...] | None
) -> None:
    assert asked(**limits) == expected


def test_memory_defaults_and_factors_come_from_the_configuration() -> None:
    assert asked(NvidiaConfig(default_memory_mib=5000), gpu=1) == (1, 5000, None, 0)
    assert asked(NvidiaConfig(memory_factor=2), gpu=1, mem=1000) == (1, 2000, None, 0)
    assert asked(NvidiaConfig(default_cores=7), gpu=1, mem=1000) == (1, 1000, None, 7)


def test_memory_beyond_32_bits_after_the_factor_makes_no_sense() -> None:
    answer = request_of(container(gpu=1, mem=1073741824), NvidiaConfig(memory_factor=2))

    assert isinstance(answer, Refusal)
    assert "from 0 to 1073741823" in answer.text


def test_a_limit_wins_over_a_request() -> None:
    both = container(gpu=2)
    limited = type(both)(name="c", limits=both.limits, requests=container(gpu=1, mem=7).limits)

    request = request_of(limited, DEFAULTS)

    assert isinstance(request, Request)
    assert (request.count, request.memory_mib) == (2, 7)


def test_resources_without_a_configured_name_do_not_count() -> None:
    nameless = NvidiaConfig(memory_name="", cores_name="")

    assert asked(nameless, gpu=1, mem=1000, cores=30) == (1, 0, 100, 0)


def test_annotations_shape_the_ask() -> None:
    notes = {
        "nvidia.com/use-gputype": "A10, T4",
        "nvidia.com/nouse-gpuuuid": "GPU-x",
        "nvidia.com/numa-bind": "T",
        "nvidia.com/vgpu-mode": "mig",
        "hami.io/node-scheduler-policy": "spread",
        "hami.io/gpu-scheduler-policy": "",
        "hami.io/device-scoring-weights": "slot=1,core=2,memory=3",
    }

    wish = ask(pod(container(gpu=1), init=[container("i")], annotations=notes))

    assert wish.requests[0] is None
    assert wish.init_count == 1
    assert wish.use_types == ("A10", "T4")
    assert wish.avoid_ids == ("GPU-x",)
    assert wish.numa_bind
    assert wish.accepts_mig
    assert (wish.node_policy, wish.device_policy) == ("spread", "")
    assert wish.weights == Weights(slot=1, core=2, memory=3)
    assert not wish.names_devices
    assert set(notes) <= FAMILY.relevant_annotations()


@pytest.mark.parametrize("value", ["yes", "", "tRUE"])
def test_numa_binding_wants_an_exact_boolean(value: str) -> None:
    wish = ask(pod(container(gpu=1), annotations={"nvidia.com/numa-bind": value}))

    assert not wish.numa_bind


def test_equal_pods_make_equal_asks() -> None:
    first, second = (ask(pod(container(gpu=1), name=name)) for name in ("a", "b"))

    assert first == second
    assert hash(first) == hash(second)
    assert first.family == FAMILY.name == "NVIDIA"


def test_t55_broken_weights_refuse_the_pod_with_hamis_words() -> None:
    key = "hami.io/device-scoring-weights"
    answer = FAMILY.ask(pod(container(gpu=1), annotations={key: "slot=1"}))

    assert isinstance(answer, Refusal)
    assert answer.text == (
        f'invalid {key} annotation "slot=1": expected slot, core, and memory weights'
    )


def test_weights_of_a_pod_without_cards_are_nobodys_business() -> None:
    key = "hami.io/device-scoring-weights"

    assert FAMILY.ask(pod(container(), annotations={key: "nonsense"})) is None


def test_policies_default_to_those_of_the_family() -> None:
    family = Nvidia(node_policy="spread", device_policy="mutex")

    wish = family.ask(pod(container(gpu=1)))

    assert isinstance(wish, NvidiaAsk)
    assert (wish.node_policy, wish.device_policy) == ("spread", "mutex")

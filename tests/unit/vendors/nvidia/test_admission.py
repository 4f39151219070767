"""What the webhook adds to containers that ask for cards."""

import pytest

from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY, Nvidia, NvidiaConfig, config_from
from tests.unit.vendors.nvidia.building import container, pod, resources

Limits = dict[str, str | int]


def limits_after(limits: Limits, config: NvidiaConfig | None = None) -> object:
    spec = Nvidia(config).admit(pod(container(**limits)))
    return spec if isinstance(spec, Refusal) else spec.containers[0].limits


@pytest.mark.parametrize(
    ("limits", "added"),
    [
        ({"gpu": 1}, {"cores": 100}),
        ({"gpu": 1, "mem": 3000}, {}),
        ({"gpu": 1, "pct": 100}, {"cores": 100}),
        ({"gpu": 1, "pct": 50}, {}),
        ({"gpu": 1, "cores": 0}, {}),
        ({"mem": 3000}, {"gpu": 1}),
        ({"cores": 20}, {"gpu": 1}),
        ({"pct": 100}, {"gpu": 1, "cores": 100}),
        ({"priority": 1}, {}),
        ({"cpu": 1}, {}),
        ({}, {}),
    ],
)
def test_defaults_are_filled_in(limits: Limits, added: Limits) -> None:
    assert limits_after(limits) == resources(limits | added)


@pytest.mark.parametrize("value", [150, -1, "100001m"])
def test_a_percentage_outside_0_to_100_is_denied(value: str | int) -> None:
    answer = limits_after({"pct": value})

    assert isinstance(answer, Refusal)
    assert answer.text.startswith("invalid nvidia.com/gpumem-percentage value ")
    assert answer.text.endswith("in container main: must be an integer between 0 and 100")


def test_requests_mirror_what_is_added() -> None:
    spec = FAMILY.admit(pod(init=[container(mem=1)]))

    assert not isinstance(spec, Refusal)
    assert spec.init_containers[0].requests == spec.init_containers[0].limits


def test_a_denied_init_container_denies_the_pod() -> None:
    assert isinstance(FAMILY.admit(pod(init=[container(pct=101)])), Refusal)


def test_a_complete_spec_stays_the_same_object() -> None:
    complete = pod(container("complete", gpu=1, mem=10))

    assert FAMILY.admit(complete) is complete.spec


def test_equal_specs_are_admitted_to_one_object() -> None:
    first, second = (FAMILY.admit(pod(container(gpu=1))) for _ in range(2))

    assert first is second


def test_the_configuration_decides_what_is_injected() -> None:
    two, none = NvidiaConfig(default_count=2), NvidiaConfig(default_count=0)

    assert limits_after({"mem": 1}, two) == resources({"gpu": 2, "mem": 1})
    assert limits_after({"mem": 1}, none) == resources({"mem": 1})
    assert limits_after({"gpu": 1}, NvidiaConfig(cores_name="")) == resources({"gpu": 1})
    assert limits_after({"gpu": 1, "mem": 1}, NvidiaConfig(memory_name="")) == resources(
        {"gpu": 1, "mem": 1, "cores": 100}
    )


def test_a_configuration_section_is_read_by_hamis_keys() -> None:
    section = {"resourceCountName": "x/gpu", "memoryFactor": 2, "deviceSplitCount": 10}

    config = config_from({"nvidia": section | {"defaultCores": 3}})

    assert (config.count_name, config.memory_factor, config.default_cores) == ("x/gpu", 2, 3)
    assert "x/gpu" in Nvidia(config).resource_names()
    assert "" not in Nvidia(NvidiaConfig(cores_name="")).resource_names()

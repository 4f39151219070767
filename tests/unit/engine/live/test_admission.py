"""Admission live: whom the scheduler takes over, what it fills in, and whom it denies."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from springtide.base.quantity import parse
from springtide.engine.live import Admitted, Live, LiveSettings, Submitted
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.quotas import NamespaceQuota
from springtide.model.resources import lookup
from springtide.vendors.ascend import Ascend
from springtide.vendors.ascend.config import AscendConfig, Chip
from springtide.vendors.nvidia import Nvidia
from springtide.vendors.nvidia.config import NvidiaConfig
from tests.builders import pod, resources
from tests.living import both_families

NAMED = LiveSettings(scheduler_name="hami-scheduler")
MEEK = LiveSettings(scheduler_name="hami-scheduler", forces_default_scheduler=False)
SHARED = pod("p", gpu=1, gpumem=1000)


def admit(
    wanted: Pod, *, settings: LiveSettings = NAMED, scheduler_name: str = "", **fields: object
) -> Admitted:
    submitted = Submitted(pod=wanted, scheduler_name=scheduler_name)
    return Live(both_families(), settings).admit(replace(submitted, **fields))


@pytest.mark.parametrize(
    "notes",
    [
        {"hami.io/vgpu-devices-allocated": "GPU-a,NVIDIA,1,0:;", "hami.io/vgpu-node": "n1"},
        {"hami.io/vgpu-devices-to-allocate": "GPU-a,NVIDIA,1,0:;"},
        {"huawei.com/Ascend910A": "[]"},
        {"hami.io/bind-phase": "success"},
    ],
)
@pytest.mark.parametrize("scheduler_name", ["", "some-other-scheduler"])
def test_fc_021_users_may_not_bring_their_own_allocations(
    notes: Mapping[str, str], scheduler_name: str
) -> None:
    answer = admit(replace(SHARED, annotations=notes), scheduler_name=scheduler_name)

    assert (answer.is_allowed, answer.code) == (False, 403)
    assert min(notes) in answer.message


def test_fc_021_annotations_that_nobody_else_reads_are_fine() -> None:
    answer = admit(replace(SHARED, annotations={"team": "blue", "nvidia.com/use-gputype": "A10"}))

    assert answer.is_allowed


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        pytest.param(MEEK, "", "hami-scheduler", id="empty name"),
        pytest.param(MEEK, "default-scheduler", "", id="default name, not forced"),
        pytest.param(NAMED, "default-scheduler", "hami-scheduler", id="default name, forced"),
        pytest.param(NAMED, "batch-scheduler", "", id="foreign"),
        pytest.param(NAMED, "hami-scheduler", "hami-scheduler", id="own name"),
        pytest.param(LiveSettings(), "", "", id="no name of its own"),
    ],
)
def test_fc_022_pods_of_others_are_left_alone(
    settings: LiveSettings, before: str, after: str
) -> None:
    answer = admit(pod("p", gpu=1), settings=settings, scheduler_name=before)

    is_others = before not in {"", "hami-scheduler"} and not after
    assert answer.is_allowed
    assert answer.scheduler_name == after
    assert (answer.spec is None) is is_others
    assert (answer.message == "pod already has different scheduler assigned") is is_others


def test_fc_022_a_pod_without_devices_keeps_its_scheduler() -> None:
    assert admit(pod("p", cpu=1)) == Admitted(is_allowed=True)


def test_fc_022_a_pod_that_names_its_node_would_skip_the_choice_of_devices() -> None:
    answer = admit(replace(SHARED, node_name="n1"))

    assert (answer.is_allowed, answer.message) == (False, "pod has node assigned")


def test_t102_a_pod_without_containers_is_denied() -> None:
    answer = admit(replace(SHARED, spec=PodSpec()))

    assert (answer.code, answer.message) == (403, "pod has no containers")


def test_t103_a_pod_of_another_scheduler_is_not_changed() -> None:
    answer = admit(pod("p", gpu=1), scheduler_name="other")

    assert answer == Admitted(
        is_allowed=True, message="pod already has different scheduler assigned"
    )


def test_a_privileged_container_may_not_have_devices() -> None:
    denied = admit(SHARED, privileged="main")
    allowed = admit(pod("p", cpu=1), privileged="main")

    assert denied.message == "container main is privileged"
    assert allowed.is_allowed


def test_whole_cards_are_asked_with_all_of_their_cores() -> None:
    answer = admit(pod("p", gpu=1))

    assert answer.spec is not None
    assert lookup(answer.spec.containers[0].limits, "nvidia.com/gpucores") == parse("100")


def test_a_family_that_cannot_admit_a_pod_is_an_error() -> None:
    answer = admit(pod("p", others={"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 150}))

    assert answer.code == 500
    assert answer.message.startswith("invalid nvidia.com/gpumem-percentage value 150")


def test_an_ask_that_makes_no_sense_is_denied_with_the_remedy() -> None:
    answer = admit(pod("p", others={"nvidia.com/gpu": 1, "nvidia.com/gpumem": "16Gi"}))

    assert answer.code == 403
    assert answer.message.endswith("memory is counted in MiB: write 16384")


def test_a_quota_that_would_be_exceeded_denies_a_pod() -> None:
    live = Live(both_families(), NAMED)
    limits = (("nvidia.com/gpumem", parse("999")),)
    live.quota_seen(NamespaceQuota(namespace="default", name="q", limits=limits))

    answer = live.admit(Submitted(pod=SHARED))

    assert (answer.code, answer.message) == (403, "exceeding resource quota")


def test_variables_and_the_runtime_class_are_added_as_the_configuration_says() -> None:
    nvidia = Nvidia(NvidiaConfig(hides_cards=True, core_policy="force", runtime_class="nvidia"))
    chip = Chip(word="X", count_name="huawei.com/X", hides_chips=True, runtime_class="ascend")
    ascend = Ascend(AscendConfig(chips=(chip,)))
    live = Live({nvidia.name: nvidia, ascend.name: ascend}, NAMED)
    limits = resources({"nvidia.com/gpu": 1, "nvidia.com/priority": 1})
    containers = (Container(name="main", limits=limits), Container(name="side"))
    wanted = replace(SHARED, spec=PodSpec(containers=containers))

    answer = live.admit(Submitted(pod=wanted))
    own = live.admit(Submitted(pod=wanted, has_runtime_class=True))

    assert answer.runtime_class == "nvidia"
    assert own.runtime_class == ""
    assert answer.environment == (
        ("main", "CUDA_TASK_PRIORITY", "1"),
        ("main", "GPU_CORE_UTILIZATION_POLICY", "force"),
        ("side", "GPU_CORE_UTILIZATION_POLICY", "force"),
        ("side", "NVIDIA_VISIBLE_DEVICES", "none"),
        ("main", "ASCEND_VISIBLE_DEVICES", ""),
        ("side", "ASCEND_VISIBLE_DEVICES", ""),
    )

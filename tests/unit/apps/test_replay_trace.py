"""A public trace as the input of a replay."""

import pytest

from springtide.apps.planner.setting import InvalidInput
from springtide.apps.replay import ReplayReport, Request, run
from springtide.apps.replay.trace import Stay, as_input, stays
from springtide.model.trace import TraceNode, TracePod
from tests.replays import places, under
from tests.world import FixedClock

T4 = TraceNode(name="t4", cpu_milli=8000, memory_mib=16384, gpus=2, model="T4")
P100 = TraceNode(name="p100", cpu_milli=8000, memory_mib=16384, gpus=1, model="P100")
PACKED = Request(policy="binpack/binpack", against="spread/spread")


def pod(name: str, *, gpus: int = 1, milli: int = 500, **rest: object) -> TracePod:
    """Return a pod of a trace that asks for GPUs."""
    given: dict[str, object] = {"cpu_milli": 1000, "memory_mib": 1024, **rest}
    return TracePod(name=name, gpus=gpus, gpu_milli=milli, **given)  # type: ignore[arg-type]  # any fields


def replayed(
    *pods: TracePod,
    nodes: tuple[TraceNode, ...] = (T4,),
    times: dict[str, Stay] | None = None,
) -> ReplayReport:
    """Return the report of a replay of these pods."""
    request = Request(policy=PACKED.policy, against=PACKED.against, stays=times or {})
    return run(as_input(nodes, pods), request, clock=FixedClock())


def test_a_gpu_is_a_card_of_a_thousand_parts() -> None:
    report = replayed(pod("a", milli=460), pod("b", milli=540), pod("c", milli=10))

    packed, spread = under(report, "binpack/binpack"), under(report, "spread/spread")
    (family,) = packed.families
    assert (family.devices, family.in_use) == (2, 2)
    assert (family.memory_mib, family.memory_used_mib) == (2000, 1010)
    assert spread.families[0].in_use == 2


def test_whole_gpus_are_not_shared_and_parts_do_not_add_up() -> None:
    report = replayed(pod("a", milli=10), pod("pair", gpus=2, milli=1000), pod("b", milli=995))

    packed = under(report, "binpack/binpack")
    assert (packed.placed, packed.refused) == (2, 1)
    assert packed.reasons[0].reason == "CardInsufficientMemory"


def test_many_small_parts_share_a_gpu() -> None:
    report = replayed(
        *(pod(f"p{number:03}", milli=8, cpu_milli=1, memory_mib=1) for number in range(250))
    )

    packed = under(report, "binpack/binpack")
    assert (packed.placed, packed.families[0].memory_used_mib) == (250, 2000)


def test_pods_go_to_models_that_they_take() -> None:
    only = pod("a", milli=1000, models=("P100",))
    either = pod("b", milli=1000, models=("P100", "T4", "P100"))
    neither = pod("c", milli=1000, models=("V100",))

    report = replayed(neither, only, either, nodes=(T4, P100))

    packed = under(report, "binpack/binpack")
    assert (packed.placed, packed.refused) == (2, 1)
    assert [each.reason for each in packed.reasons] == ["CardTypeMismatch"]


def test_a_model_does_not_stand_for_others_whose_names_contain_its_own() -> None:
    large = TraceNode(name="large", cpu_milli=8000, memory_mib=16384, gpus=1, model="T40")

    report = replayed(pod("a", models=("T4",), milli=1000), nodes=(large,))

    assert under(report, "binpack/binpack").refused == 1


def test_pods_without_gpus_and_nodes_without_them_come_too() -> None:
    plain = TraceNode(name="plain", cpu_milli=2000, memory_mib=1024, gpus=0, model="")

    report = replayed(pod("a", gpus=0, milli=0, cpu_milli=2000), nodes=(plain,))

    assert under(report, "spread/spread").placed == 1
    assert under(report, "spread/spread").families == ()


def test_pods_come_by_their_times_and_not_by_their_place_in_the_file() -> None:
    late, early = pod("a", created_s=100), pod("b", created_s=99)
    first = pod("c", created_s=9)

    report = replayed(late, early, first, nodes=(P100, T4))

    (other, *_) = report.differences
    assert (other.pod, other.order, other.created) == ("trace/b", 2, "0000000099")
    assert places(other) == ("p100", "t4")


def test_pods_go_when_they_were_deleted_if_wanted() -> None:
    pods = (
        pod("a", gpus=2, milli=1000, created_s=0, deleted_s=10),
        pod("b", gpus=2, milli=1000, created_s=10, deleted_s=50),
    )

    staying = replayed(*pods)
    going = replayed(*pods, times=stays(pods, source="pods.csv"))

    assert under(staying, "spread/spread").placed == 1
    assert under(going, "spread/spread").placed == 2
    assert under(going, "spread/spread").families[0].in_use == 2


def test_departures_need_times() -> None:
    with pytest.raises(InvalidInput, match=r"pods\.csv: pod a has no creation_time"):
        stays((pod("a"),), source="pods.csv")


def test_the_answer_says_what_a_gpu_is_taken_for() -> None:
    report = replayed(pod("a"))

    assert "a MiB is a thousandth of it" in " ".join(report.input.notes)
    assert (report.input.nodes, report.input.pods) == (1, 1)

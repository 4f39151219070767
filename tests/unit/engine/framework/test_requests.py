"""What pods ask and hold: the order of init containers, pod-level amounts, resizes."""

import pytest

from springtide.engine.framework.requests import (
    held_requests,
    is_counted,
    pod_host_ports,
    pod_requests,
)
from springtide.model.pod import Container, ContainerResize, HostPort, Pod, PodSpec, Resize
from tests.unit.engine.framework.asking import asked, container, pod


def cpu(amount: str, *, is_sidecar: bool = False) -> Container:
    return container({"cpu": amount}, is_sidecar=is_sidecar)


def spec(
    *containers: str, init: tuple[str, ...] = (), pod_level: str = "", overhead: str = ""
) -> PodSpec:
    """Return a spec by its cpu; an init container that starts with `S` is a sidecar."""
    return PodSpec(
        containers=tuple(map(cpu, containers)),
        init_containers=tuple(
            cpu(each.removeprefix("S"), is_sidecar=each.startswith("S")) for each in init
        ),
        requests=asked({"cpu": pod_level} if pod_level else {}),
        overhead=asked({"cpu": overhead} if overhead else {}),
    )


@pytest.mark.parametrize(
    ("asking", "milli"),
    [
        pytest.param(spec("1"), 1000, id="R1"),
        pytest.param(spec("1", init=("2",)), 2000, id="R2"),
        pytest.param(spec("1", init=("S0.5", "2")), 2500, id="R3"),
        pytest.param(spec("1", init=("2", "S0.5")), 2000, id="R4"),
        pytest.param(spec("1", "2", init=("S0.5", "S0.5")), 4000, id="R5"),
        pytest.param(spec("1", init=("S1", "1", "S2", "3")), 6000, id="R6"),
        pytest.param(spec("1", pod_level="3"), 3000, id="R7"),
        pytest.param(spec("4", pod_level="3"), 3000, id="R8"),
        pytest.param(spec("1", pod_level="3", overhead="250m"), 3250, id="R9"),
        pytest.param(PodSpec(containers=(Container(name="any"),)), None, id="R10"),
    ],
)
def test_a_pod_asks_its_peak(asking: PodSpec, milli: int | None) -> None:
    assert pod_requests(asking).get("cpu") == milli


def test_sums_are_rounded_once() -> None:
    asking = PodSpec(containers=(cpu("100u"), cpu("200u"), container({"memory": "1m"})))

    assert pod_requests(asking) == {"cpu": 1, "memory": 1}


def test_only_cpu_memory_and_huge_pages_may_be_stated_for_the_pod() -> None:
    stated = asked({"cpu": 2, "hugepages-2Mi": "2Mi", "ephemeral-storage": 9, "vendor.io/x": 9})

    asking = PodSpec(containers=(container({"vendor.io/x": 1}),), requests=stated)

    assert pod_requests(asking) == {"cpu": 2000, "hugepages-2Mi": 2 << 20, "vendor.io/x": 1}


def test_names_that_the_scheduler_does_not_count_are_left_out() -> None:
    assert is_counted("cpu")
    assert is_counted("kubernetes.io/odd")
    assert not is_counted("plain")
    assert not is_counted("pods")
    assert pod_requests(PodSpec(containers=(container({"plain": 1, "pods": 7}),))) == {}


def resized(
    wanted: str, *, allocated: str | None, actuated: str | None, is_infeasible: bool = False
) -> Pod:
    """Return a pod with one container whose resize is under way."""
    report = ContainerResize(
        name="any",
        allocated=None if allocated is None else asked({"cpu": allocated}),
        actuated=None if actuated is None else asked({"cpu": actuated}),
    )
    resize = Resize(containers=(report,), is_infeasible=is_infeasible)
    return with_resize(spec(wanted), resize)


def with_resize(running: PodSpec, resize: Resize) -> Pod:
    return Pod(namespace="default", name="any", uid="any", spec=running, resize=resize)


@pytest.mark.parametrize(
    ("running", "milli"),
    [
        pytest.param(resized("2", allocated="1", actuated="1"), 2000, id="R11"),
        pytest.param(resized("2", allocated="1", actuated="1", is_infeasible=True), 1000, id="R12"),
        pytest.param(resized("1", allocated="1", actuated="3"), 3000, id="shrinking"),
        pytest.param(resized("1", allocated="2", actuated=None), 2000, id="nothing actuated"),
        pytest.param(resized("1", allocated=None, actuated=None), 1000, id="no report"),
    ],
)
def test_a_resized_pod_holds_the_most_of_what_is_wanted_allocated_and_actuated(
    running: Pod, milli: int
) -> None:
    assert held_requests(running) == {"cpu": milli}


def test_containers_without_a_report_hold_nothing_while_the_resize_is_infeasible() -> None:
    running = with_resize(spec("2"), Resize(is_infeasible=True))

    assert held_requests(running) == {}


def test_reports_on_the_whole_pod_replace_those_on_its_containers() -> None:
    report = ContainerResize(name="any", allocated=asked({"cpu": 9}), actuated=asked({"cpu": 9}))
    whole = Resize(
        containers=(report,), allocated=asked({"cpu": 3}), actuated=asked({"cpu": 2, "memory": 5})
    )

    assert held_requests(with_resize(spec("1"), whole)) == {"cpu": 3000, "memory": 5}


@pytest.mark.parametrize(
    ("resize", "milli"),
    [
        pytest.param(Resize(allocated=asked({"cpu": 5})), 2000, id="allocated alone is not read"),
        pytest.param(Resize(actuated=asked({"cpu": 4})), 4000, id="actuated alone"),
        pytest.param(
            Resize(allocated=asked({"cpu": 5}), actuated=asked({"cpu": 4})), 5000, id="both"
        ),
        pytest.param(
            Resize(allocated=asked({"cpu": 1}), actuated=asked({"cpu": 1}), is_infeasible=True),
            1000,
            id="infeasible",
        ),
    ],
)
def test_a_pod_level_request_follows_the_reports_on_the_whole_pod(
    resize: Resize, milli: int
) -> None:
    running = with_resize(spec("1", pod_level="2", overhead="0"), resize)

    assert held_requests(running) == {"cpu": milli}


def test_overhead_comes_on_top_of_what_is_held() -> None:
    running = with_resize(spec("1", overhead="250m"), Resize(actuated=asked({})))

    assert held_requests(running) == {"cpu": 1250}


def test_a_pod_that_was_never_resized_holds_what_it_asked() -> None:
    running = pod(spec("1", init=("S1", "1")))

    assert held_requests(running) is pod_requests(running.spec)


def test_host_ports_are_those_of_containers_that_keep_running() -> None:
    ports = (HostPort(port=80, host_ip="", protocol=""), HostPort(port=0))
    asking = PodSpec(
        containers=(Container(name="main", host_ports=ports),),
        init_containers=(
            Container(name="plain", host_ports=(HostPort(port=1),)),
            Container(name="side", host_ports=(HostPort(port=2, protocol="UDP"),), is_sidecar=True),
        ),
    )

    assert pod_host_ports(asking) == (HostPort(port=80), HostPort(port=2, protocol="UDP"))

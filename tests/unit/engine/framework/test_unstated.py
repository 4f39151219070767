"""What is assumed of containers that state no cpu or no memory."""

import pytest

from springtide.engine.framework.unstated import assumed_requests, unstated
from springtide.model.pod import Container, ContainerResize, PodSpec, Resize
from tests.unit.engine.framework.asking import asked, container

CPU, MEMORY = 100, 200 * 2**20
FULL = container({"cpu": "1", "memory": "1Gi"})
SILENT = container({})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(PodSpec(containers=(FULL,)), None, id="everything is stated"),
        pytest.param(PodSpec(containers=(SILENT, SILENT)), (2 * CPU, 2 * MEMORY), id="nothing is"),
        pytest.param(
            PodSpec(containers=(FULL, container({"cpu": "0"}))), (0, MEMORY), id="zero is stated"
        ),
        pytest.param(
            PodSpec(containers=(FULL,), init_containers=(SILENT,)), None, id="less than the peak"
        ),
        pytest.param(
            PodSpec(containers=(SILENT,), overhead=asked({"cpu": "10m"})),
            (CPU, MEMORY),
            id="overhead comes on top",
        ),
        pytest.param(
            PodSpec(containers=(SILENT,), requests=asked({"cpu": "1"})),
            (0, MEMORY),
            id="stated for the pod as a whole",
        ),
        pytest.param(
            PodSpec(containers=(SILENT, FULL), requests=asked({"cpu": "1"})),
            None,
            id="stated for the pod and by one container",
        ),
    ],
)
def test_silent_containers_are_made_up_for(spec: PodSpec, expected: tuple[int, int] | None) -> None:
    assert unstated(spec) == expected


def test_a_resized_pod_is_made_up_for_by_what_the_kubelet_reports() -> None:
    spec = PodSpec(containers=(Container(name="any", requests=asked({"cpu": "1"})),))
    report = ContainerResize(name="any", allocated=asked({"memory": "1Gi"}))

    # Stated, the container would need 200 MiB; allocated, it has stated 1 GiB, but no cpu.
    assert unstated(spec, Resize(containers=(report,))) is None


def test_a_resize_that_cannot_be_done_leaves_a_silent_container() -> None:
    spec = PodSpec(containers=(FULL,))

    assert unstated(spec, Resize(is_infeasible=True)) == (CPU, MEMORY)


def test_an_incoming_pod_is_taken_by_its_containers_alone() -> None:
    spec = PodSpec(
        containers=(SILENT,),
        requests=asked({"cpu": "4"}),
        overhead=asked({"cpu": "10m", "memory": "1"}),
    )

    assert assumed_requests(spec) == {"cpu": CPU + 10, "memory": MEMORY + 1}

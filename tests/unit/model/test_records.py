"""What records of pods, nodes, problems and refusals answer about themselves."""

import pytest
from msgspec.structs import replace

from springtide.base import quantity
from springtide.base.selectors import parse_selector
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile, describing, opposed
from springtide.model.refusal import Refusal
from springtide.model.resources import amounts, lookup
from springtide.model.workload import DaemonSet
from tests.builders import cards, pod, resources


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_finished(phase: str) -> None:
    assert replace(pod(), phase=phase).is_finished
    assert not replace(pod(), phase="Running").is_finished


def test_a_daemon_is_owned_by_a_daemon_set_or_marked_as_one() -> None:
    marked = pod(annotations={"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"})

    assert pod(daemon_of="proxy").is_daemon
    assert marked.is_daemon
    assert not pod().is_daemon


def test_a_mirror_pod_says_so() -> None:
    assert pod(annotations={"kubernetes.io/config.mirror": "abc"}).is_mirror
    assert not pod().is_mirror


def test_keys_are_namespace_and_name() -> None:
    daemon = DaemonSet(namespace="kube-system", name="proxy", uid="u", spec=pod().spec)

    assert pod("p").key == "default/p"
    assert daemon.key == "kube-system/proxy"


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, True),
        ({"Ready": "True"}, True),
        ({"Ready": "False"}, False),
        ({"Ready": "Unknown"}, False),
    ],
)
def test_a_node_is_ready_unless_its_kubelet_says_otherwise(
    conditions: dict[str, str], *, expected: bool
) -> None:
    assert Node(name="n", conditions=conditions).is_ready is expected


def test_amounts_are_in_the_schedulers_units() -> None:
    given = resources({"cpu": "1500m", "memory": "1Gi", "example.com/x": "2"})

    assert amounts(given) == {"cpu": 1500, "memory": 1 << 30, "example.com/x": 2}


def test_a_quantity_is_found_as_it_was_written() -> None:
    given = resources({"cpu": "1.5"})

    assert lookup(given, "cpu") == quantity.parse("1.5")
    assert lookup(given, "memory") is None


def test_a_refusal_reads_as_a_status_message() -> None:
    refusal = Refusal(rule="NodeResourcesFit", reasons=("Insufficient cpu", "Too many pods"))

    assert refusal.text == "Insufficient cpu, Too many pods"


def test_a_problem_is_one_line_with_its_place() -> None:
    whole = Problem(source="a.yaml", object="Node n", message="it is left out.")
    part = Problem(source="a.yaml", object="Node n", field="spec", message="it is wrong.")

    assert whole.text == "a.yaml: Node n: it is left out."
    assert part.text == "a.yaml: Node n, spec: it is wrong."


def test_profiles_describe_the_nodes_that_their_selector_matches() -> None:
    small, large = profile("small", cards(1)), profile("large", cards(2))

    found = describing([small, large], {"kind": "large"})

    assert found == (large,)


def test_profiles_oppose_each_other_if_they_promise_other_devices() -> None:
    first, same, other = profile("a", cards(1)), profile("b", cards(1)), profile("c", cards(2))

    assert opposed([]) == ()
    assert opposed([first, same]) == ()
    assert opposed([first, same, other]) == (("a", "c"), ("c", "a"))


def profile(name: str, devices: tuple[Device, ...]) -> DeviceProfile:
    return DeviceProfile(
        name=name, selector=parse_selector(f"kind={name}"), devices=(("NVIDIA", devices),)
    )

"""NodePorts by the table of wanted and used ports."""

import numpy as np
import pytest

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.node_ports import NodePorts
from springtide.engine.framework.rule import Ready, Skipped, selection
from springtide.model.pod import Container, HostPort, PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import answer, ledger_of, resolvable, roomy

TAKEN = resolvable("NodePorts", "node(s) didn't have free ports for the requested pod ports")


def port(text: str) -> HostPort:
    """Return a port from `PROTOCOL/address/number`, or a number alone."""
    *before, number = text.split("/")
    protocol, address = before or ("TCP", "0.0.0.0")
    return HostPort(host_ip=address, protocol=protocol, port=int(number))


def using(*ports: str, init: bool = False, is_sidecar: bool = False) -> PodSpec:
    container = Container(name="any", host_ports=tuple(map(port, ports)), is_sidecar=is_sidecar)
    return PodSpec(init_containers=(container,)) if init else PodSpec(containers=(container,))


@pytest.mark.parametrize(
    ("wanted", "used", "expected"),
    [
        pytest.param(using(), "8080", None, id="P1"),
        pytest.param(using("UDP/127.0.0.1/8080"), "UDP/127.0.0.1/9090", None, id="P2"),
        pytest.param(using("UDP/127.0.0.1/8080"), "UDP/127.0.0.1/8080", TAKEN, id="P3"),
        pytest.param(using("TCP/127.0.0.1/8080"), "UDP/127.0.0.1/8080", None, id="P4"),
        pytest.param(using("TCP/0.0.0.0/8001"), "TCP/127.0.0.1/8001", TAKEN, id="P5"),
        pytest.param(using("TCP/127.0.0.1/8001"), "TCP/0.0.0.0/8001", TAKEN, id="P6"),
        pytest.param(using("TCP/10.0.10.10/8001"), "TCP/127.0.0.1/8001", None, id="P7"),
        pytest.param(using("8080"), "TCP/0.0.0.0/8080", TAKEN, id="P8"),
        pytest.param(using("80", init=True), "80", None, id="P9"),
        pytest.param(using("80", init=True, is_sidecar=True), "80", TAKEN, id="P10"),
        pytest.param(using("TCP/::/80"), "TCP/10.0.0.1/80", None, id="no wildcard"),
    ],
)
def test_a_port_is_given_once(wanted: PodSpec, used: str, expected: Refusal | None) -> None:
    assert answer(wanted, roomy(), running=[using(used)]) == expected


@pytest.mark.parametrize(
    ("wanted", "is_skipped"),
    [
        pytest.param(using(), True, id="P1"),
        pytest.param(using("80", init=True), True, id="P9"),
        pytest.param(using("80", init=True, is_sidecar=True), False, id="P10"),
    ],
)
def test_pods_without_a_lasting_port_are_not_looked_at(
    wanted: PodSpec,
    is_skipped: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    prepared = NodePorts().prepare(PodAsk(spec=wanted), ledger_of([roomy()]))

    assert isinstance(prepared, Skipped) is is_skipped


def test_nothing_is_refused_where_no_port_is_used() -> None:
    ledger = ledger_of([roomy()])

    prepared = NodePorts().prepare(PodAsk(spec=using("80")), ledger)

    assert isinstance(prepared, Ready)
    assert prepared.check.evaluate(ledger, selection(np.arange(1))) is None

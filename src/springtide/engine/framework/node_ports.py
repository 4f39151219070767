"""NodePorts: a port of the node can be given to one pod only."""

from collections.abc import Iterable, Mapping

import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.requests import ANY_ADDRESS, pod_host_ports
from springtide.engine.framework.rule import (
    SKIPPED,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rows,
    one_reason,
)
from springtide.model.ledger import Ledger
from springtide.model.pod import HostPort


class NodePorts:
    """The NodePorts plugin of kube-scheduler."""

    name = "NodePorts"
    reads = Reads.USAGE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:  # noqa: ARG002 - the Rule protocol
        """Collect the ports that the pod wants of its node."""
        wanted = pod_host_ports(ask.spec)
        return Ready(_Wanted(wanted)) if wanted else SKIPPED


class _Wanted:
    def __init__(self, ports: tuple[HostPort, ...]) -> None:
        self._ports = ports

    def evaluate(self, ledger: Ledger, rows: Rows) -> Outcome | None:
        if not ledger.ports:
            return None
        used = map(ledger.ports.get, rows.tolist())
        taken = [ports is not None and conflict(self._ports, ports) for ports in used]
        return one_reason(np.array(taken, np.bool_), is_unresolvable=False)

    def reasons(self, bits: int) -> tuple[str, ...]:
        assert bits
        return ("node(s) didn't have free ports for the requested pod ports",)


def conflict(wanted: Iterable[HostPort], used: Mapping[HostPort, int]) -> bool:
    """Return whether any wanted port meets a used one; IPv6's `::` is an address like any other."""
    return any(_meets(port, used) for port in wanted)


def _meets(port: HostPort, used: Mapping[HostPort, int]) -> bool:
    if port in used:
        return True
    if port.host_ip == ANY_ADDRESS:
        return any(port.port == each.port and port.protocol == each.protocol for each in used)
    return _everywhere(port) in used


def _everywhere(port: HostPort) -> HostPort:
    return HostPort(host_ip=ANY_ADDRESS, protocol=port.protocol, port=port.port)

"""NodePorts: a port of the node can be given to one pod only."""

from collections.abc import Collection, Iterable

import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.requests import ANY_ADDRESS, pod_host_ports
from springtide.engine.framework.rule import (
    SKIPPED,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Selection,
)
from springtide.model.ledger import Ledger
from springtide.model.pod import HostPort


class NodePorts:
    """The NodePorts plugin of kube-scheduler."""

    name = "NodePorts"
    reads = Reads.USAGE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Collect the ports that the pod wants of its node."""
        wanted = pod_host_ports(ask.spec)
        return Ready(_Wanted(wanted)) if wanted else SKIPPED


class _Wanted:
    def __init__(self, ports: tuple[HostPort, ...]) -> None:
        self._ports = ports

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        if not ledger.ports:
            return None
        used = map(ledger.ports.get, selected.rows.tolist())
        taken = [ports is not None and conflicts(self._ports, ports) for ports in used]
        return Outcome(
            refused=np.array(taken, np.bool_), unresolvable=np.zeros(len(taken), np.bool_)
        )

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return ("node(s) didn't have free ports for the requested pod ports",)


def conflicts(wanted: Iterable[HostPort], used: Collection[HostPort]) -> bool:
    """Return whether any wanted port meets a used one; IPv6's `::` is an address like any other."""
    return any(_meets(port, used) for port in wanted)


def _meets(port: HostPort, used: Collection[HostPort]) -> bool:
    if port in used:
        return True
    if port.host_ip == ANY_ADDRESS:
        return any(port.port == each.port and port.protocol == each.protocol for each in used)
    return HostPort(host_ip=ANY_ADDRESS, protocol=port.protocol, port=port.port) in used

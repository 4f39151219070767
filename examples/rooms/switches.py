"""Faults that are switched on inside a process, because no network can be cut on a laptop without rights."""

import msgspec

from examples.rooms.messages import Answer, Message
from examples.rooms.world import Peers, Unreached
from springtide.base.clock import Calendar
from springtide.model.replicas.answer import Answer as Said
from springtide.model.replicas.answer import Unreachable
from springtide.replicas import Metrics


class Switches(msgspec.Struct, kw_only=True):
    """What is broken now."""

    cut_peers: bool = False
    cut_prometheus: bool = False
    clock_offset_s: float = 0.0


class SwitchedPeers:
    """Peers that can be cut off."""

    def __init__(self, peers: Peers, switches: Switches) -> None:
        self._peers = peers
        self._switches = switches

    async def ask(self, address: str, message: Message, *, timeout_s: float) -> Answer:
        """Return the answer, if the other can be reached."""
        if self._switches.cut_peers:
            raise Unreached("the network is cut")
        return await self._peers.ask(address, message, timeout_s=timeout_s)


class SwitchedMetrics:
    """Prometheus, or nobody."""

    def __init__(self, metrics: Metrics, switches: Switches) -> None:
        self._metrics = metrics
        self._switches = switches

    async def answer(self, text: str) -> Said:
        """Return the answer, if Prometheus can be reached."""
        if self._switches.cut_prometheus:
            return Unreachable("the network is cut")
        return await self._metrics.answer(text)


class SwitchedCalendar:
    """A clock that can be wrong."""

    def __init__(self, calendar: Calendar, switches: Switches) -> None:
        self._calendar = calendar
        self._switches = switches

    def unix_s(self) -> float:
        """Return the seconds since 1970, or what this machine thinks they are."""
        return self._calendar.unix_s() + self._switches.clock_offset_s

"""Placing whole batches at once on equal new nodes.

New nodes of one template that hold the same are the same node, so their state is a few columns:
free resources, used host ports, and a number for the state of the devices. How many equal pods one
state still takes is a division for resources and a memoised walk for devices. The search order is
reproduced in rounds: one pod for every node that still takes one, from the last match on. The
outcome equals placing one pod at a time (`stepping`), for every rule that cannot tell the nodes
apart.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.placed import Indices, Placed
from springtide.engine.capacity.start import DeviceTotals, Start, device_totals
from springtide.engine.capacity.states import FREE
from springtide.engine.framework.node_ports import conflicts
from springtide.engine.framework.requests import pod_host_ports
from springtide.engine.placement.classes import PodClass, standing_amounts
from springtide.model.columns import Int64, Interner, distinct, grown
from springtide.model.pod import HostPort, Pod
from springtide.model.resources import amounts

NOT_SIMULATED: Final = "(not simulated)"
_FIRST_NODES: Final = 64


class Packing:
    """The new nodes of one estimate: `free` [resources, nodes], port and device state codes."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._existing = start.overlay.ledger.count
        self._devices = start.devices
        self._port_sets: Interner[frozenset[HostPort]] = Interner()
        free, ports = self._fresh()
        self._free_fresh: Int64 = free
        self._ports_fresh = self._port_sets.code(ports)
        self.count = 0
        self._free: Int64 = np.zeros((len(free), _FIRST_NODES), np.int64)
        self._ports = np.zeros(_FIRST_NODES, np.intp)
        self._state = np.zeros(_FIRST_NODES, np.intp)
        self._used = np.zeros(_FIRST_NODES, np.bool_)
        self._last_match = 0
        self._counted = 0
        self.placed = Placed()

    # What the estimate asks for

    def onto_added(self, batch: Batch) -> Sequence[Pod]:
        """Place pods on the nodes added so far and return those that did not fit."""
        room = self._room(batch, np.arange(self.count), len(batch.pods))
        total = self._existing + self.count
        if self._start.template.node.is_unschedulable or not room.any():
            return batch.pods
        position = self._existing + np.arange(self.count)
        order = np.argsort((position - self._last_match - 1) % total, kind="stable")
        sequence = _in_rounds(room, order, len(batch.pods))
        self._last_match = self._existing + int(sequence[-1])
        self._put(batch, batch.pods[: len(sequence)], sequence)
        return batch.pods[len(sequence) :]

    def onto_new(self, batch: Batch, pods: Sequence[Pod], limiter: Limiter) -> bool:
        """Place pods on the last node and on further new nodes; False once none is permitted."""
        if self.count:
            last = self.count - 1
            taken = int(self._room(batch, np.array([last]), len(pods))[0])
            self._put(batch, pods[:taken], np.full(taken, last))
            pods = pods[taken:]
            if pods and not self._used[last]:
                return True
        if not pods:
            return True
        each = self._room_when_fresh(batch, len(pods))
        wanted = -(-len(pods) // each) if each else 1
        granted = limiter.permit(wanted)
        first = self.count
        self._add(granted)
        if not each:
            return granted > 0
        placed = pods[: granted * each]
        self._put(batch, placed, np.repeat(np.arange(first, self.count), each)[: len(placed)])
        return granted == wanted

    def onto_counted(self, batch: Batch, pods: Sequence[Pod], limiter: Limiter) -> bool:
        """Fill one new node and count how many like it take the rest, without building them."""
        if not limiter.permit():
            return False
        each = self._room_when_fresh(batch, len(pods))
        self._add(1)
        self._put(batch, pods[:each], np.full(min(each, len(pods)), self.count - 1))
        if not each:
            return True
        nodes, is_open = self.placed.count(batch, pods[each:], limiter, each=each, first=self.count)
        self._counted += nodes
        return is_open

    def name(self, index: int) -> str:
        """Return the name of the new node with this index; counted ones were never built."""
        if index >= self.count:
            return f"{NOT_SIMULATED} {index - self.count}"
        return self._start.name(index)

    def device_totals(self) -> tuple[DeviceTotals, ...]:
        """Return what the nodes that got a pod have and use of each device family."""
        counts = np.bincount(self._state[: self.count][self._used[: self.count]])
        if self._counted and len(counts):
            counts[self._state[self.count - 1]] += self._counted
        return device_totals(
            (view, int(count))
            for state, count in enumerate(counts)
            if count
            for view in self._devices.views(state)
        )

    # Room

    def _fresh(self) -> tuple[Int64, frozenset[HostPort]]:
        names = self._names_of_resources = Interner[str]()
        classes = self._start.verdicts
        have = amounts(self._start.template.node.allocatable)
        for name in [*have, *(name for item in classes for name, _ in item.amounts)]:
            names.code(name)
        free = np.array([have.get(name, 0) for name in names.values], np.int64)
        ports: set[HostPort] = set()
        for pod in self._start.template.pods:
            ports.update(pod_host_ports(pod.spec))
            for name, quantity in standing_amounts(pod):
                index = names.known(name)
                if index is not None:
                    free[index] -= quantity
        return free, frozenset(ports)

    def _room_when_fresh(self, batch: Batch, limit: int) -> int:
        if self._start.verdicts[batch.pod_class] is not None:
            return 0
        room = self._resource_room(batch, self._free_fresh[:, None])
        room = np.minimum(room, self._port_room(batch, np.array([self._ports_fresh])))
        bound = min(limit, int(room[0]))
        return len(self._devices.walk(FREE, batch.pod_class, bound)) - 1

    def _room(self, batch: Batch, nodes: Indices, limit: int) -> Int64:
        """Return how many further pods of the batch each node takes, at most `limit`."""
        if self._start.verdicts[batch.pod_class] is not None or not len(nodes):
            return np.zeros(len(nodes), np.int64)
        room = self._resource_room(batch, self._free[:, nodes])
        room = np.minimum(room, self._port_room(batch, self._ports[nodes]))
        room = np.minimum(room, limit)
        if batch.pod_class.asks:
            room = np.minimum(room, self._device_room(batch.pod_class, self._state[nodes], room))
        return room

    def _device_room(self, pod_class: PodClass, states: Indices, room: Int64) -> Int64:
        """Return how many further pods the devices of each node take, at most its room."""
        found = np.zeros(len(states), np.int64)
        asked = distinct(states[room > 0])
        for state in asked[self._devices.takers(asked, pod_class)].tolist():
            mine = states == state
            walk = self._devices.walk(state, pod_class, int(room[mine].max()))
            found[mine] = len(walk) - 1
        return found

    def _resource_room(self, batch: Batch, free: Int64) -> Int64:
        room = np.full(free.shape[1], np.iinfo(np.int64).max)
        framework = self._start.tables.framework_of(batch.pod_class)
        for name, quantity in batch.pod_class.amounts:
            if quantity > 0 and framework.counts(name):
                index = self._names_of_resources.code(name)
                room = np.minimum(room, np.maximum(free[index], 0) // quantity)
        return room

    def _port_room(self, batch: Batch, port_sets: Indices) -> Int64:
        wanted = batch.pod_class.ports
        if not wanted or not self._start.tables.framework_of(batch.pod_class).judges("NodePorts"):
            return np.full(len(port_sets), np.iinfo(np.int64).max)
        free = {
            code: int(not conflicts(wanted, self._port_sets.values[code]))
            for code in set(port_sets.tolist())
        }
        return np.array([free[code] for code in port_sets.tolist()], np.int64)

    # Changes

    def _add(self, count: int) -> None:
        first, self.count = self.count, self.count + count
        if self.count > len(self._used):
            rows = max(self.count, 2 * len(self._used))
            self._free = grown(self._free, rows, axis=1)
            self._ports = grown(self._ports, rows)
            self._state = grown(self._state, rows)
            self._used = grown(self._used, rows)
        self._free[:, first : self.count] = self._free_fresh[:, None]
        self._ports[first : self.count] = self._ports_fresh
        self._state[first : self.count] = 0

    def _put(self, batch: Batch, pods: Sequence[Pod], sequence: Indices) -> None:
        """Place the pods on the nodes of the sequence, one each."""
        if not len(sequence):
            return
        taken = np.bincount(sequence, minlength=self.count)
        nodes = np.flatnonzero(taken)
        for name, quantity in batch.pod_class.amounts:
            index = self._names_of_resources.code(name)
            self._free[index, nodes] -= quantity * taken[nodes]
        if batch.pod_class.ports:
            for node in nodes.tolist():
                used = self._port_sets.values[self._ports[node]]
                self._ports[node] = self._port_sets.code(used.union(batch.pod_class.ports))
        if batch.pod_class.asks:
            self._advance(batch.pod_class, nodes, taken[nodes])
        self._used[nodes] = True
        self.placed.add(batch, pods, sequence)

    def _advance(self, pod_class: PodClass, nodes: Indices, taken: Indices) -> None:
        before = self._state[nodes]
        for state in distinct(before):
            mine = before == state
            walk = np.array(self._devices.walk(int(state), pod_class, int(taken[mine].max())))
            self._state[nodes[mine]] = walk[taken[mine]]


def _in_rounds(room: Int64, order: Indices, wanted: int) -> Indices:
    """Return which node takes each pod: one for every node with room, round after round."""
    left = room[order]
    rounds: list[Indices] = []
    while wanted > 0 and (open_nodes := order[left > len(rounds)]).size:
        rounds.append(open_nodes[:wanted])
        wanted -= len(rounds[-1])
    return np.concatenate(rounds)

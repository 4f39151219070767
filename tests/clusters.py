"""Small clusters of one device family, through the family's own reading, placing and accounting."""

import numpy as np
from msgspec import structs

from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.model.device import Allocation
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

VGPU_NODE = "hami.io/vgpu-node"


def admitted(family: DeviceFamily, wanted: Pod) -> Pod:
    """Return the pod as admission stores it."""
    spec = family.admit(wanted)
    assert not isinstance(spec, Refusal), spec.text
    return structs.replace(wanted, spec=spec)


class DeviceCluster:
    """Nodes and running pods; on the way vector verdicts are held against exact placement."""

    def __init__(self, family: DeviceFamily, *nodes: Node) -> None:
        self.family = family
        self.ledger = Ledger()
        for node in nodes:
            found = family.inventory(node)
            assert not isinstance(found, Refusal), found
            self.ledger.add_node(node, {} if found is None else {family.name: found})

    def hold(self, running: Pod) -> None:
        """Charge what a pod's annotations say that it holds."""
        allocation = self.family.decode(running)
        assert isinstance(allocation, Allocation), allocation
        row = self.ledger.rows[running.annotations[VGPU_NODE]]
        found = self.ledger.devices[self.family.name].inventory_at(row)
        assert found is not None
        shares = self.family.shares(allocation, found)
        self.ledger.hold(Holding(uid=running.uid, row=row, shares=((self.family.name, shares),)))

    def ask(self, wanted: Pod) -> Ask:
        """Return what the pod asks, as it was admitted."""
        answer = self.family.ask(admitted(self.family, wanted))
        assert answer is not None
        assert not isinstance(answer, Refusal), answer.text
        return answer

    def answers(self, wanted: Pod) -> dict[str, Allocation | Refusal]:
        """Return every node's answer; vector verdicts must agree with it."""
        wish = self.ask(wanted)
        found: dict[str, Allocation | Refusal] = {}
        for name, row in self.ledger.rows.items():
            node = self.ledger.view(row, self.family.name)
            assert node is not None, f"{name} registered nothing"
            found[name] = self.family.place(wish, node)
            self._agree(wish, row, found[name])
        return found

    def schedule(self, wanted: Pod) -> tuple[str, Allocation]:
        """Place the pod on the best node and charge it there."""
        fits = {
            name: answer
            for name, answer in self.answers(wanted).items()
            if isinstance(answer, Allocation)
        }
        rows = np.array([self.ledger.rows[name] for name in fits])
        columns = self.ledger.devices[self.family.name]
        scores = self.family.scores(self.ask(wanted), columns, rows, loads=columns.load.take(rows))
        node = list(fits)[int(scores.argmax())]
        notes = self.family.encode(fits[node]) | {VGPU_NODE: node}
        placed = admitted(self.family, wanted)
        self._hold_and_release(
            structs.replace(placed, annotations=dict(placed.annotations) | notes)
        )
        assert not self.ledger.overcommitted()
        return node, fits[node]

    def _hold_and_release(self, placed: Pod) -> None:
        """Charge a pod; what it would free with its end is what it took."""
        row = self.ledger.rows[placed.annotations[VGPU_NODE]]
        before = self.ledger.view(row, self.family.name)
        self.hold(placed)
        self.ledger.check()
        self.ledger.release(placed.uid)
        assert self.ledger.view(row, self.family.name) == before
        self.hold(placed)

    def use(self, node: str) -> dict[str, tuple[int, int, int]]:
        """Return slots, MiB and cores in use by device id."""
        found = self.ledger.view(self.ledger.rows[node], self.family.name)
        assert found is not None
        return {
            device.id: (use.slots, use.memory_mib, use.cores)
            for device, use in zip(found.inventory.devices, found.uses, strict=True)
        }

    def _agree(self, wish: Ask, row: int, answer: Allocation | Refusal) -> None:
        columns = self.ledger.devices[self.family.name]
        verdicts = self.family.evaluate(wish, columns, np.array([row]))
        if isinstance(answer, Allocation):
            assert verdicts.fits[0]
        elif verdicts.is_exact[0]:
            assert not verdicts.fits[0]
            assert self.family.refusal(wish, verdicts.codes[0]) == answer

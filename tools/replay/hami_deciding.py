"""What we answer to one pod on many nodes, three ways that must agree.

The exact placement on every node is what is compared with HAMi; on the way vector verdicts and class
tables are held against it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
import numpy as np

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.reasons import NODE_UNREGISTERED, Reason
from springtide.engine.placement.tables import Tables
from springtide.engine.placement.unregistered import unregistered
from springtide.model.device import Allocation
from springtide.model.refusal import Refusal
from tools.replay.hami_nodes import Expect
from tools.replay.hami_report import Report

TOO_FEW: Final = Reason.NODE_INSUFFICIENT_DEVICE.value

Answer = Allocation | Refusal


class Answers(msgspec.Struct, frozen=True):
    """What each node gives, and what the families say where at least one refuses."""

    allocations: Mapping[str, tuple[Allocation, ...]]
    failed: Mapping[str, tuple[str, ...]]


class Deciding:
    """Decisions over one ledger and its tables."""

    def __init__(
        self,
        tables: Tables,
        families: Mapping[str, DeviceFamily],
        *,
        report: Report,
        expect: Expect,
    ) -> None:
        self._tables = tables
        self._ledger = tables.ledger
        self._families = families
        self._report = report
        self._expect = expect

    def answers(self, pod_class: PodClass, names: Iterable[str]) -> Answers:
        """Return what fits where, and why not elsewhere."""
        allocations: dict[str, tuple[Allocation, ...]] = {}
        failed: dict[str, tuple[str, ...]] = {}
        for name in dict.fromkeys(names):
            row = self._ledger.rows.get(name)
            if row is None:
                failed[name] = (NODE_UNREGISTERED,)
                continue
            answers = [self._answer(ask, row) for ask in self._tables.asks_of(pod_class)]
            self._check_tables(pod_class, row, answers)
            refused = [each for each in answers if isinstance(each, Refusal)]
            if refused:
                failed[name] = tuple(each.text for each in refused)
            else:
                allocations[name] = tuple(e for e in answers if isinstance(e, Allocation))
        return Answers(allocations, failed)

    def scores(self, pod_class: PodClass, names: Iterable[str]) -> dict[str, float]:
        """Return the score of each of these nodes, which all fit."""
        table = self._tables.table(pod_class)
        return {name: float(table.rank[self._ledger.rows[name]]) for name in names}

    def families_on(self, name: str) -> int:
        """Return how many families have devices on a node."""
        row = self._ledger.rows[name]
        return sum(self._ledger.view(row, family) is not None for family in self._families)

    def _answer(self, ask: Ask, row: int) -> Answer:
        view = self._ledger.view(row, ask.family)
        if view is None:
            return unregistered(ask.family)
        family = self._families[ask.family]
        answer = family.place(ask, view)
        self._check_vector(ask, row, answer)
        if isinstance(answer, Refusal):
            assert isinstance(family.detail(ask, view.inventory, answer), str)
        return answer

    def _check_vector(self, ask: Ask, row: int, answer: Answer) -> None:
        family = self._families[ask.family]
        verdicts = family.evaluate(ask, self._ledger.devices[ask.family], np.array([row]))
        fits, is_exact = bool(verdicts.fits[0]), bool(verdicts.is_exact[0])
        if isinstance(answer, Allocation):
            self._expect("vector verdict", "fits", "fits" if fits else "refused")
        elif is_exact:
            self._expect("vector verdict", "refused", "fits" if fits else "refused")
            self._expect("vector refusal", answer, family.refusal(ask, verdicts.codes[0]))

    def _check_tables(self, pod_class: PodClass, row: int, answers: list[Answer]) -> None:
        """Note where the class tables answer otherwise than the first refusal, or what is given."""
        answer = self._tables.place(pod_class, row)
        ours = list(answer.allocations) if isinstance(answer, Placement) else answer
        plain = next((each for each in answers if isinstance(each, Refusal)), answers)
        self._report.judged += 1
        if ours != plain:
            name = self._ledger.names[row]
            self._report.unlike.append(f"{name}: {plain!r} without tables, {ours!r} with them")

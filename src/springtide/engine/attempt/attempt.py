"""One scheduling attempt as kube-scheduler makes it, from the first filter to the event's text.

Everything but the choice among several nodes that would do: which rows take the pod, why the others
do not, what evicting pods would change, and the sentence about it. Verdicts stay columns; a reason
is rendered once for all rows that share it, and only where somebody asks.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec
import numpy as np

from springtide.engine.attempt.post_filter import PostFilter, given_back, post_filter
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import PASSES, Framework, PreparedAsk, Verdicts
from springtide.engine.framework.nominated import NOBODY, Judge, Nominations
from springtide.engine.framework.rule import Rows
from springtide.engine.preemption import Evictable, Residents
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

NO_NODES: Final = "no nodes available to schedule pods"
EVENT_BYTES: Final = 1024
_CUT: Final = b" ..."


class Outcome(StrEnum):
    """How an attempt ends."""

    SCHEDULABLE = "schedulable"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt is made on. The overlay is used for trials, and is as it was afterwards."""

    overlay: Overlay
    framework: Framework
    nominations: Nominations = NOBODY
    evictable: Evictable = Evictable(residents=Residents())


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one pod.

    `verdicts` are those of all rows in the order of `names`. `taken` is the row that the pod was
    nominated to, if it still does: then no other row is looked at in earnest. `error` is set if a
    rule cannot judge the pod, on any row; `post_filter` is what was tried if no row takes it.
    """

    pod: Pod
    outcome: Outcome
    framework: Framework
    prepared: PreparedAsk
    verdicts: Verdicts
    names: Sequence[str]
    taken: int | None = None
    post_filter: PostFilter | None = None

    @property
    def error(self) -> str:
        """Return why a rule cannot judge the pod, empty if all of them can."""
        fault = _first_fault(self.framework, self.prepared, self.verdicts)
        return self.prepared.error or fault

    @property
    def feasible(self) -> Rows:
        """Return the rows that take the pod, ascending."""
        return np.flatnonzero(self.verdicts.rule == PASSES)

    @property
    def pre_filter_message(self) -> str:
        """Return why no row was looked at, empty if rows were."""
        return "" if self.prepared.rejection is None else self.prepared.rejection.text

    def refusals(self) -> list[tuple[Refusal, Rows]]:
        """Return the distinct refusals, each with its rows, ascending."""
        return [(self._told(int(rows[0])), rows) for rows in _alike(self.verdicts)]

    @property
    def unschedulable_plugins(self) -> tuple[str, ...]:
        """Return the plugins that keep the pod from every node together, sorted."""
        if self.outcome is not Outcome.UNSCHEDULABLE:
            return ()
        names = {refusal.rule for refusal, _ in self.refusals()}
        return tuple(sorted(names.union(self.prepared.restricting) - {""}))

    @property
    def text(self) -> str:
        """Return what is said of the pod, empty if some row takes it."""
        if self.outcome is not Outcome.UNSCHEDULABLE:
            return self.error
        if not len(self.names):
            return NO_NODES
        counts = [(refusal, len(rows)) for refusal, rows in self.refusals()]
        after = "" if self.post_filter is None else self.post_filter.message
        return fit_error(len(self.names), counts, self.pre_filter_message, postfilter_message=after)

    def _told(self, row: int) -> Refusal:
        verdicts = self.verdicts
        return self.framework.refusal(
            self.prepared,
            int(verdicts.rule[row]),
            int(verdicts.detail[row]),
            bool(verdicts.unresolvable[row]),
        )


def attempt(
    pod: Pod, ask: PodAsk, setting: Setting, *, deallocation: str = "", offset: int = 0
) -> Attempt:
    """Return what becomes of a pod that asks this.

    `deallocation` is what DynamicResources says of claims that it could give back, unless it finds
    some itself, and `offset` where the search for nodes to evict pods from begins.
    """
    promised = setting.nominations.before(pod)
    judge = Judge(setting.framework, ask, overlay=setting.overlay, promised=promised)
    verdicts = judge.verdicts()
    ledger = setting.overlay.ledger
    made = Attempt(
        pod=pod,
        outcome=_outcome(setting.framework, judge.prepared, verdicts),
        framework=setting.framework,
        prepared=judge.prepared,
        verdicts=verdicts,
        names=tuple(ledger.names),
        taken=_taken(ledger.rows.get(pod.nominated_node), verdicts),
    )
    if made.outcome is not Outcome.UNSCHEDULABLE or not ledger.count:
        return made
    after = post_filter(
        pod,
        judge,
        promising=promising(verdicts),
        evictable=setting.evictable,
        on_claims=given_back(pod, judge, lambda code: _with_code(verdicts, code)) or deallocation,
        offset=offset,
    )
    return msgspec.structs.replace(made, post_filter=after)


def promising(verdicts: Verdicts) -> Rows:
    """Return the rows that refuse, but where evicting pods could help."""
    return np.flatnonzero((verdicts.rule != PASSES) & ~verdicts.unresolvable)


def event_text(text: str) -> str:
    """Return the text as an event holds it, which takes so many bytes and no more."""
    encoded = text.encode()
    if len(encoded) <= EVENT_BYTES:
        return text
    return (encoded[: EVENT_BYTES - len(_CUT)] + _CUT).decode(errors="ignore")


def _outcome(framework: Framework, prepared: PreparedAsk, verdicts: Verdicts) -> Outcome:
    if prepared.error or _first_fault(framework, prepared, verdicts):
        return Outcome.ERROR
    fits = bool((verdicts.rule == PASSES).any())
    return Outcome.SCHEDULABLE if fits else Outcome.UNSCHEDULABLE


def _first_fault(framework: Framework, prepared: PreparedAsk, verdicts: Verdicts) -> str:
    """Return why the claims of devices cannot be judged on the first row where that is so."""
    code, check = framework.claims_check(prepared)
    if check is None:
        return ""
    details = dict.fromkeys(verdicts.detail[verdicts.rule == code].tolist())
    fault = next((detail for detail in details if check.is_fault(detail)), None)
    if fault is None:
        return ""
    return f'running "{framework.device_rule.name}" filter plugin: {check.reasons(fault)[0]}'


def _with_code(verdicts: Verdicts, code: int) -> list[int]:
    return np.flatnonzero(verdicts.rule == code).tolist()


def _taken(nominated: int | None, verdicts: Verdicts) -> int | None:
    is_taken = nominated is not None and verdicts.rule[nominated] == PASSES
    return nominated if is_taken else None


def _alike(verdicts: Verdicts) -> list[Rows]:
    """Return the rows that refuse, parted by what they say."""
    rows = np.flatnonzero(verdicts.rule != PASSES)
    if not len(rows):
        return []
    rule, detail = verdicts.rule[rows], verdicts.detail[rows]
    is_final = verdicts.unresolvable[rows]
    order = np.lexsort((rows, detail, is_final, rule))
    changes = (
        (np.diff(rule[order]) != 0)
        | (np.diff(is_final[order]) != 0)
        | (detail[order][1:] != detail[order][:-1])
    )
    return np.split(rows[order], np.flatnonzero(changes) + 1)

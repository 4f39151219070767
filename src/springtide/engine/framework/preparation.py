"""What all rules together make of one ask before any row is looked at (PreFilter).

A rejection ends the matter, and sets of named nodes are intersected. What nodes outside the set are
told names the rules that restricted it.
"""

from collections.abc import Hashable, Iterable, Sequence
from operator import itemgetter

import msgspec

from springtide.engine.framework.rule import Check, Reads, Rule
from springtide.engine.framework.verdicts import Checks
from springtide.model.refusal import Refusal


class PreparedAsk(msgspec.Struct, frozen=True, kw_only=True):
    """One ask, ready to be judged on one ledger.

    The checks are by rule code: `node_checks` are those of the leading rules that judge by the node
    alone, whose verdicts no placement changes, `usage_checks` those of the rules that judge by what
    the node holds, and `cluster_checks` those of the last rules, which judge by other nodes too.
    `nodes` are the only nodes that may pass, None if any may. `outside` refuses the rows that are
    not looked at, and `restricting` are the rules that named the others. `rejection` is set if that is every row, and `error` if a rule cannot judge the
    ask. `is_lasting` says that no change of the ledger makes this stale, and `lasts_by_row` that, but
    for the cluster checks, a change makes it stale on its own row only, as long as `elsewhere` is the
    same.
    """

    node_checks: Checks = ()
    usage_checks: Checks = ()
    cluster_checks: Checks = ()
    nodes: frozenset[str] | None = None
    outside: Refusal | None = None
    restricting: tuple[str, ...] = ()
    rejection: Refusal | None = None
    error: str = ""
    is_lasting: bool = True
    lasts_by_row: bool = True
    elsewhere: Hashable = None

    @property
    def later_checks(self) -> Checks:
        """Return the checks of all rules that placements concern, in official order."""
        if not self.cluster_checks:
            return self.usage_checks
        return tuple(sorted((*self.usage_checks, *self.cluster_checks), key=itemgetter(0)))


class Preparation:
    """What the rules have made of one ask so far."""

    def __init__(self) -> None:
        self._checks: list[tuple[int, Check]] = []
        self._rejection: Refusal | None = None
        self._error = ""
        self._nodes: frozenset[str] | None = None
        self._restricting: list[str] = []
        self._is_lasting = True
        self._lasts_by_row = True
        self._elsewhere: Hashable = None

    @property
    def is_over(self) -> bool:
        """Return whether the remaining rules are not asked any more.

        kube-scheduler asks them all if eviction could help, so that preemption has their state.
        """
        rejected = self._rejection is not None and self._rejection.is_unresolvable
        return rejected or bool(self._error)

    def ask(self, rule: Rule) -> None:
        """Note that a rule is asked; some have to be asked again after a change elsewhere."""
        self._is_lasting &= rule.reads is not Reads.CLUSTER

    def last(self, *, is_lasting: bool) -> None:
        """Take in whether a rule's answer to this ask outlives placements on other rows."""
        self._is_lasting &= is_lasting
        self._lasts_by_row &= is_lasting

    def read(self, elsewhere: Hashable) -> None:
        """Take in what a rule reads of other rows; one rule at most reads anything."""
        if elsewhere is not None:
            assert self._elsewhere is None, "two rules read other rows"
            self._elsewhere = elsewhere
            self._is_lasting = False

    def check(self, code: int, check: Check) -> None:
        """Let a rule judge rows."""
        self._checks.append((code, check))

    def restrict(self, rule: Rule, nodes: frozenset[str] | None) -> None:
        """Take in which nodes a rule leaves, None if all of them."""
        if nodes is None:
            return
        self._restricting.append(rule.name)
        self._nodes = nodes if self._nodes is None else self._nodes & nodes
        if not self._nodes:
            self._rejection = _nobody(self._restricting)

    def reject(self, refusal: Refusal) -> None:
        """Take in that a rule rejects the pod; the last one has the word."""
        self._rejection = refusal

    def fail(self, rule: Rule, message: str) -> None:
        """Take in that a rule cannot judge the ask."""
        self._error = f'running PreFilter plugin "{rule.name}": {message}'

    def prepared(
        self, first_usage_code: int, *, cluster_codes: frozenset[int] = frozenset()
    ) -> PreparedAsk:
        """Return the outcome; rules below the first code judge by the node alone."""
        later = tuple(each for each in self._checks if each[0] >= first_usage_code)
        return PreparedAsk(
            node_checks=tuple(each for each in self._checks if each[0] < first_usage_code),
            usage_checks=tuple(each for each in later if each[0] not in cluster_codes),
            cluster_checks=tuple(each for each in later if each[0] in cluster_codes),
            nodes=self._nodes,
            outside=self._outside(),
            restricting=tuple(self._restricting),
            rejection=self._rejection,
            error=self._error,
            # A rejection and an error are about the ask itself.
            is_lasting=self._is_lasting or self.is_over,
            lasts_by_row=self._lasts_by_row or self.is_over,
            elsewhere=None if self.is_over else self._elsewhere,
        )

    def _outside(self) -> Refusal | None:
        if self._error:
            return _unresolvable(self._error)
        if self._rejection is not None or self._nodes is None:
            return self._rejection
        return _unresolvable(f"node(s) didn't satisfy plugin(s) {_listed(self._restricting)}")


def _nobody(restricting: Sequence[str]) -> Refusal:
    if len(restricting) == 1:
        return _unresolvable(f"node(s) didn't satisfy plugin {restricting[0]}")
    return _unresolvable(f"node(s) didn't satisfy plugin(s) {_listed(restricting)} simultaneously")


def _listed(names: Iterable[str]) -> str:
    return f"[{' '.join(sorted(names))}]"


def _unresolvable(reason: str) -> Refusal:
    """Return a refusal of the framework itself, which belongs to no rule."""
    return Refusal(rule="", reasons=(reason,), is_unresolvable=True)

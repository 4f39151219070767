"""All filter rules together: one verdict a row, the first rule in official order that refuses.

`prepare` combines what every rule makes of an ask before it sees a node, `evaluate` judges rows,
`refusal` renders the verdict of one row in kube-scheduler's words.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.dynamic_resources.matching import DeviceSelectors
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims_check import ClaimsCheck
from springtide.engine.framework.dynamic_resources import DynamicResources
from springtide.engine.framework.inter_pod_affinity import InterPodAffinity
from springtide.engine.framework.node_affinity import NodeAffinity
from springtide.engine.framework.node_declared_features import NodeDeclaredFeatures
from springtide.engine.framework.node_name import NodeName
from springtide.engine.framework.node_ports import NodePorts
from springtide.engine.framework.node_resources_fit import NodeResourcesFit
from springtide.engine.framework.node_unschedulable import NodeUnschedulable
from springtide.engine.framework.node_volume_limits import NodeVolumeLimits
from springtide.engine.framework.pod_topology_spread import PodTopologySpread
from springtide.engine.framework.preparation import Preparation, PreparedAsk
from springtide.engine.framework.rule import (
    Broken,
    Check,
    Reads,
    Ready,
    Rejected,
    Rows,
    Rule,
    Skipped,
    is_static,
)
from springtide.engine.framework.taint_toleration import TaintToleration
from springtide.engine.framework.verdicts import (
    FIRST_RULE,
    OUTSIDE,
    PASSES,
    Checks,
    Verdicts,
    judged,
    put,
    uniform,
)
from springtide.engine.framework.volume_binding import VolumeBinding
from springtide.engine.framework.volume_restrictions import VolumeRestrictions
from springtide.engine.framework.volume_zone import VolumeZone
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.neighbours import SpreadConstraint
from springtide.model.plugin_arguments import DefaultPreemptionArgs
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import DeviceObjects, HeldClaim
from springtide.model.storage import Storage

__all__ = [
    "OUTSIDE",
    "PASSES",
    "Framework",
    "FrameworkConfig",
    "PreparedAsk",
    "Verdicts",
]

NEEDS_PREPARATION: Final = frozenset(
    {
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
    }
)
"""Rules that fail where their PreFilter did not run."""


class FrameworkConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler profile may change. Rules named in `disabled` do not judge rows.

    `added_node_terms` are required of every pod; None adds nothing, no terms at all match no node.
    `default_spread` is for pods that state no constraint of their own. `filters` names the rules that
    judge rows, in their order, and `pre_filters` those that are asked before any row is looked at;
    None is all of them, in official order. `post_filters` are the plugins that look for a way out
    where no node will do, and `preemption` says how hard one of them looks.
    """

    ignored_resources: frozenset[str] = frozenset()
    ignored_groups: frozenset[str] = frozenset()
    added_node_terms: tuple[NodeSelectorTerm, ...] | None = None
    default_spread: tuple[SpreadConstraint, ...] = ()
    disabled: frozenset[str] = frozenset()
    filters: tuple[str, ...] | None = None
    pre_filters: frozenset[str] | None = None
    post_filters: tuple[str, ...] = ("DynamicResources", "DefaultPreemption")
    preemption: DefaultPreemptionArgs = DefaultPreemptionArgs(10, 100)


class Framework:
    """The filter plugins of one scheduler profile, for asks about one ledger after the other.

    Without `storage` nothing is known of claims, and no rule looks at them. The same goes for claims
    of `devices`, which are found by their `selectors`.
    """

    def __init__(
        self,
        config: FrameworkConfig | None = None,
        storage: Storage | None = None,
        devices: DeviceObjects | None = None,
        selectors: DeviceSelectors | None = None,
    ) -> None:
        config = config or FrameworkConfig()
        self.storage = storage
        self.config = config
        self._disabled = config.disabled
        self._unprepared: frozenset[str] = frozenset()
        self.devices = devices
        self.device_rule = DynamicResources(devices, selectors)
        self._fit = NodeResourcesFit(
            config.ignored_resources, config.ignored_groups, self.device_rule.delegated
        )
        self.rules: tuple[Rule, ...] = (
            NodeName(),
            NodeUnschedulable(),
            TaintToleration(),
            NodeAffinity(config.added_node_terms),
            NodePorts(),
            self._fit,
            VolumeRestrictions(storage),
            NodeVolumeLimits(storage),
            VolumeBinding(storage),
            VolumeZone(storage),
            PodTopologySpread(config.default_spread),
            InterPodAffinity(),
            self.device_rule,
            NodeDeclaredFeatures(),
        )
        """In the order of kube-scheduler; a rule's code is its position from `FIRST_RULE` on."""
        self._configure(config)
        self._first_usage_code = FIRST_RULE + _leading_static(self.rules)
        self._cluster_rules = _reading_cluster(self.rules)
        self._cluster_codes = frozenset(code for code, _ in self._cluster_rules)

    def _configure(self, config: FrameworkConfig) -> None:
        """Let the rules judge in the order of the profile, and leave out what it leaves out."""
        if config.filters is not None:
            place = {name: index for index, name in enumerate(config.filters)}
            last = len(place)
            self.rules = tuple(sorted(self.rules, key=lambda rule: place.get(rule.name, last)))
            self._disabled |= {rule.name for rule in self.rules if rule.name not in place}
        if config.pre_filters is not None:
            names = {rule.name for rule in self.rules}
            self._unprepared = frozenset(names - config.pre_filters)

    def counts(self, resource: str) -> bool:
        """Return whether a shortage of this resource keeps pods away."""
        return self.judges(self._fit.name) and self._fit.counts(resource)

    def prepares(self, rule: str) -> bool:
        """Return whether the plugin of this name is asked before any row is looked at."""
        return self.config.pre_filters is None or rule in self.config.pre_filters

    def judges(self, rule: str) -> bool:
        """Return whether the rule of this name may refuse a row."""
        return rule not in self._disabled

    def prepare(self, ask: PodAsk, ledger: Ledger) -> PreparedAsk:
        """Return what all rules together make of the ask before any row is looked at."""
        preparation = Preparation()
        for code, rule in enumerate(self.rules, FIRST_RULE):
            if rule.name in self._unprepared:
                self._prepare_rows_only(code, rule, preparation, ask, ledger)
                continue
            preparation.ask(rule)
            match rule.prepare(ask, ledger):
                case Skipped(is_lasting=is_lasting):
                    preparation.last(is_lasting=is_lasting)
                case Ready(check=check, nodes=nodes, is_lasting=is_lasting, elsewhere=elsewhere):
                    preparation.last(is_lasting=is_lasting)
                    preparation.read(elsewhere)
                    preparation.restrict(rule, nodes)
                    if rule.name not in self._disabled:
                        preparation.check(code, check)
                case Rejected(refusal=refusal):
                    preparation.reject(refusal)
                case Broken(message=message):
                    preparation.fail(rule, message)
            if preparation.is_over:
                break
        return preparation.prepared(self._first_usage_code, cluster_codes=self._cluster_codes)

    def prepare_again(self, prepared: PreparedAsk, ask: PodAsk, ledger: Ledger) -> PreparedAsk:
        """Return what `prepare` would, after a change of the ledger that `prepared` was made on."""
        if prepared.is_lasting:
            return prepared
        if not prepared.lasts_by_row or not self._reads_the_same(prepared, ask, ledger):
            return self.prepare(ask, ledger)
        checks: list[tuple[int, Check]] = []
        for code, rule in self._cluster_rules:
            again = rule.prepare(ask, ledger)
            assert not isinstance(again, Rejected | Broken) or rule.name in self._unprepared, (
                "a rejection is about the ask itself"
            )
            if isinstance(again, Ready) and rule.name not in self._disabled:
                checks.append((code, again.check))
        if not checks and not prepared.cluster_checks:
            return prepared
        return replace(prepared, cluster_checks=tuple(checks))

    def _reads_the_same(self, prepared: PreparedAsk, ask: PodAsk, ledger: Ledger) -> bool:
        if prepared.elsewhere is None:
            return True
        return prepared.elsewhere == self.device_rule.elsewhere(ask, ledger)

    def prepare_beside(self, prepared: PreparedAsk, ask: PodAsk, ledger: Ledger) -> PreparedAsk:
        """Return what was prepared, brought up to a ledger on which pods were tried or taken away.

        As in kube-scheduler, a rule that had nothing to say before is not asked again.
        """
        if prepared.lasts_by_row and not prepared.cluster_checks:
            return prepared
        usage = prepared.usage_checks
        return replace(
            prepared,
            usage_checks=usage if prepared.lasts_by_row else self._checked(usage, ask, ledger),
            cluster_checks=self._checked(prepared.cluster_checks, ask, ledger),
        )

    def _checked(self, checks: Checks, ask: PodAsk, ledger: Ledger) -> Checks:
        """Return these checks made anew, without those that have nothing to say any more."""
        again = ((code, self.rules[code - FIRST_RULE].prepare(ask, ledger)) for code, _ in checks)
        return tuple((code, each.check) for code, each in again if isinstance(each, Ready))

    def _prepare_rows_only(
        self, code: int, rule: Rule, preparation: Preparation, ask: PodAsk, ledger: Ledger
    ) -> None:
        """Let a rule judge rows that the profile does not ask before; some of them cannot."""
        if rule.name in self._disabled:
            return
        if rule.name in NEEDS_PREPARATION:
            preparation.fail(rule, f'reading "PreFilter{rule.name}" from cycleState: not found')
            return
        preparation.ask(rule)
        match rule.prepare(ask, ledger):
            case Ready(check=check, elsewhere=elsewhere):
                preparation.check(code, check)
                preparation.read(elsewhere)
            case Skipped() | Rejected() | Broken():
                pass

    def evaluate(self, prepared: PreparedAsk, ledger: Ledger, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows of the ledger that the ask was prepared on."""
        groups = (prepared.node_checks, prepared.later_checks)
        return _judged_inside(prepared, groups, ledger, rows)

    def evaluate_node(self, prepared: PreparedAsk, ledger: Ledger, rows: Rows) -> Verdicts:
        """Return what `evaluate` does but for the rules that read other nodes."""
        groups = (prepared.node_checks, prepared.usage_checks)
        return _judged_inside(prepared, groups, ledger, rows)

    def evaluate_usage(self, prepared: PreparedAsk, ledger: Ledger, rows: Rows) -> Verdicts:
        """Return what `evaluate_node` does, for rows not settled and still the same nodes."""
        return _judged_inside(prepared, (prepared.usage_checks,), ledger, rows)

    def evaluate_cluster(self, prepared: PreparedAsk, ledger: Ledger, rows: Rows) -> Verdicts:
        """Return what the rules that read other nodes say, whatever the others say."""
        return judged((prepared.cluster_checks,), ledger, rows)

    def devices_on(
        self, prepared: PreparedAsk, ledger: Ledger, row: int
    ) -> tuple[HeldClaim, ...] | None:
        """Return what the claims of an ask are given on a row, None if the row has not got it."""
        _, check = self.claims_check(prepared)
        return () if check is None else check.allocate(ledger, row)

    def claims_check(self, prepared: PreparedAsk) -> tuple[int, ClaimsCheck | None]:
        """Return what judges the claims of devices of an ask, by its rule's code; None without."""
        coded = (pair for pair in prepared.usage_checks if isinstance(pair[1], ClaimsCheck))
        code, check = next(coded, (PASSES, None))
        return code, check if isinstance(check, ClaimsCheck) else None

    def is_settled(self, codes: npt.NDArray[np.uint8]) -> Bool:
        """Return for each rule code whether it stands whatever is placed on the row."""
        return (codes > PASSES) & (codes < self._first_usage_code)

    def refusal(
        self,
        prepared: PreparedAsk,
        rule_code: int,
        detail: int,
        unresolvable: bool,  # noqa: FBT001 - one row of `Verdicts`, in its order
    ) -> Refusal:
        """Return the refusal that one row's verdict stands for; the row must be refused."""
        assert rule_code != PASSES
        if rule_code == OUTSIDE:
            assert prepared.outside is not None
            return prepared.outside
        checks = dict((*prepared.node_checks, *prepared.later_checks))
        check = checks[rule_code]
        return Refusal(
            rule=self.rules[rule_code - FIRST_RULE].name,
            reasons=check.reasons(detail),
            is_unresolvable=unresolvable,
            is_fault=isinstance(check, ClaimsCheck) and check.is_fault(detail),
        )


def _leading_static(rules: Sequence[Rule]) -> int:
    """Return how many rules come before the first one that placements concern."""
    return [is_static(rule) for rule in rules].index(False)


def _reading_cluster(rules: Sequence[Rule]) -> list[tuple[int, Rule]]:
    """Return the rules, with their codes, that have to be asked again after any change."""
    coded = enumerate(rules, FIRST_RULE)
    return [(code, rule) for code, rule in coded if rule.reads is Reads.CLUSTER]


def _judged_inside(
    prepared: PreparedAsk, groups: Sequence[Checks], ledger: Ledger, rows: Rows
) -> Verdicts:
    """Judge the rows that the ask is about; the others are outside."""
    if prepared.outside is None:
        return judged(groups, ledger, rows)
    verdicts = uniform(len(rows), OUTSIDE, unresolvable=prepared.outside.is_unresolvable)
    if prepared.rejection is None and not prepared.error:
        inside = np.flatnonzero(np.isin(rows, _rows_of(prepared.nodes or (), ledger)))
        put(verdicts, inside, judged(groups, ledger, rows[inside]))
    return verdicts


def _rows_of(nodes: Iterable[str], ledger: Ledger) -> list[int]:
    return [ledger.rows[name] for name in nodes if name in ledger.rows]

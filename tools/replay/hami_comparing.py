"""What a replay compares of each step with the recorded outcome, and which differences are listed.

A listed difference is noted in the report, or ends the step by a `Skip` where nothing of it can be
compared any more. Whatever else differs is found.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from springtide.base.quantity import parse
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.model.device import Allocation
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources
from tools.replay.hami_deciding import TOO_FEW, Deciding
from tools.replay.hami_forms import (
    nano,
    sorted_shares,
    texts,
    unpadded,
    usage_of,
    without_profiles,
)
from tools.replay.hami_kinds import Json, Kind
from tools.replay.hami_report import Report, Skip
from tools.replay.hami_state import State


class Comparison:
    """Compares one scenario step by step; `found` is what differs of the step at hand.

    With `is_any_order` chance has decided the order of devices. `has_others` says that there may be
    families that are not built yet, `is_stable` that HAMi's sort is, as ours always is.
    """

    def __init__(
        self,
        kinds: Sequence[Kind],
        state: State,
        *,
        report: Report,
        has_others: bool,
        is_stable: bool,
    ) -> None:
        self.found: list[str] = []
        self.is_any_order = False
        self.report = report
        self.kinds = kinds
        self.state = state
        self.has_others = has_others
        self._is_stable = is_stable

    def expect(self, what: str, recorded: object, ours: object) -> None:
        """Note what differs."""
        if recorded == ours:
            return
        if not self._is_stable:
            raise Skip("stable sort")
        self.found.append(f"{what}: recorded {recorded!r}, ours {ours!r}")

    def admission(self, pod: Pod, spec: PodSpec, recorded: Json) -> None:
        """Compare what every container asks once it is admitted, changed or not."""
        changed = recorded.get("containers", {})
        given = {each.name: each for each in (*pod.spec.init_containers, *pod.spec.containers)}
        for container in (*spec.init_containers, *spec.containers):
            told, kept = changed.get(container.name, {}), given[container.name]
            limits = _amounts(told.get("limits"), kept.limits)
            requests = _amounts(told.get("requests"), kept.requests)
            ours = nano(dict(container.limits))
            self.expect(f"limits of {container.name}", limits, ours)
            # The API server accepts a device's request only if it equals the limit.
            self.expect(
                f"requests of {container.name}",
                requests | limits,
                nano(dict(container.requests)) | ours,
            )

    def senseless(self, refusal: Refusal, pod: Pod, outcome: Json) -> None:
        """Compare a pod whose ask makes no sense; HAMi lets most of them pass."""
        if outcome["result"] == "error":
            ours = f"calcScore failed {refusal.text} for pod {pod.name}"
            self.expect("error", outcome["error"], ours)
            return
        if outcome["result"] == "placed":
            raise Skip("senseless quantity")
        self.report.skipped["senseless quantity"] += 1

    def failed(self, ours: Mapping[str, tuple[str, ...]], recorded: Json | None) -> None:
        """Compare why nodes refuse; of several families on a node any may have spoken first."""
        told = recorded or {}
        failed = {
            name: told[name] if told.get(name) in reasons else reasons[0]
            for name, reasons in ours.items()
        }
        # HAMi knows the node by the devices of another family, and says that it has too few of ours.
        for name in failed.keys() & told.keys():
            is_known = name in self.state.foreign or name in self.state.registered
            if is_known and told[name] == TOO_FEW and NODE_UNREGISTERED in ours[name]:
                failed[name] = TOO_FEW
                self.report.skipped["registered by others"] += 1
        self.expect("failedNodes", told, failed)

    def scores(self, deciding: Deciding, scores: Mapping[str, float], outcome: Json) -> None:
        """Compare the scores of the nodes that fit, and which of them is chosen."""
        if not self.state.foreign.isdisjoint(scores):
            raise Skip("other families")
        node, best = outcome["node"], max(scores.values())
        is_shared = any(deciding.families_on(name) > 1 for name in scores)
        if is_shared and outcome["scores"] != texts(scores):
            raise Skip("several families on a node")
        self.expect("scores", outcome["scores"], texts(scores))
        self.expect("node", node, node if scores.get(node) == best else sorted(scores))

    def annotations(self, ours: Mapping[str, str], pod: Pod, recorded: Json) -> None:
        """Compare what is written on a placed pod."""
        is_padded = True
        for key in sorted(self.text_keys() & ours.keys()):
            theirs, text = self._ordered(recorded.get(key, "")), self._ordered(ours[key])
            if theirs == text:
                continue
            self.expect(key, theirs, unpadded(text))
            is_padded = False
        if not is_padded:
            self.report.skipped["padding"] += 1
            self.state.unpadded.add(pod.uid)
            return
        self._documents(ours, recorded)

    def _documents(self, ours: Mapping[str, str], recorded: Json) -> None:
        written = ours.keys() if self.has_others else ours.keys() | recorded.keys()
        for key in sorted(frozenset(k for kind in self.kinds for k in kind.documents) & written):
            documents = [json.loads(each.get(key, "[]")) or [] for each in (recorded, ours)]
            if self.is_any_order:
                documents = [sorted(each, key=json.dumps) for each in documents]
            self.expect(key, *documents)

    def _ordered(self, text: str) -> str:
        """Return an allocation, the devices of each container sorted where their order is chance."""
        if not self.is_any_order:
            return text
        return ";".join(":".join(sorted(segment.split(":"))) for segment in text.split(";"))

    def read_back(self, pod: Pod, given: tuple[Allocation, ...], node: str) -> None:
        """Compare what a placed pod is charged with what was given."""
        if self.state.reads_short and pod.uid in self.state.unpadded:
            return
        held = dict(self.state.ledger.holdings[pod.uid].shares)
        for each in given:
            inventory = self.state.registered[node][each.family]
            shares = self.state.families[each.family].shares(each, inventory)
            self.expect("shares read back", sorted_shares(shares), sorted_shares(held[each.family]))

    def usage(self, recorded: Json) -> None:
        """Compare the use of every card."""
        self.state.ledger.check()
        expected, ours = self._known_cards(recorded), usage_of(self.state.ledger)
        if expected != ours and usage_of(self.state.as_hami_reads()) == expected:
            raise Skip("padding")
        self.expect("usage", expected, ours)

    def quotas(self, recorded: Json) -> None:
        """Compare what namespaces use of their quotas."""
        ours = self.state.limits.recorded_form(self.state.ledger.quotas)
        self.expect("quota", self.state.limits.known(recorded), ours)

    def is_state(self, recorded: Json) -> bool:
        """Return whether our use of cards is the recorded one, if need be as HAMi reads lists."""
        expected = self._known_cards(recorded["usage"])
        if usage_of(self.state.ledger) != expected:
            self.state.reads_short = True
            self.state.recount()
        used = self.state.limits.recorded_form(self.state.ledger.quotas)
        is_charged = used == self.state.limits.known(recorded["quota"])
        return is_charged and usage_of(self.state.ledger) == expected

    def _known_cards(self, recorded: Json) -> dict[str, dict[str, Any]]:
        """Return the recorded use of the cards that we know, nodes without any left out."""
        usage = without_profiles(recorded)
        if not self.state.foreign:
            return usage
        known = {
            name: {
                card: use
                for card, use in cards.items()
                if any(
                    card in {device.id for device in inventory.devices}
                    for inventory in self.state.registered.get(name, {}).values()
                )
            }
            for name, cards in usage.items()
        }
        return {name: cards for name, cards in known.items() if cards}

    def text_keys(self) -> frozenset[str]:
        """Return the annotations that say container by container what a pod holds."""
        return frozenset(key for kind in self.kinds for key in kind.texts)


def _amounts(changed: Mapping[str, str] | None, kept: Resources) -> dict[str, int]:
    """Return amounts as the webhook left them."""
    return nano(dict(kept) if changed is None else {k: parse(v) for k, v in changed.items()})

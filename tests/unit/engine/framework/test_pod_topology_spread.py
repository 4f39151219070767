"""PodTopologySpread: the table of its cases, and what the columns must keep up with."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from msgspec.structs import replace

from springtide.base.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    compile_selector,
    label_selector,
)
from springtide.base.taints import Taint
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.model.neighbours import Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from tests.builders import term
from tests.unit.engine.framework.asking import answers, ledger_of, resolvable, roomy, unresolvable

ZONE: Final = "zone"
RULE: Final = "PodTopologySpread"
UNEVEN: Final = "node(s) didn't match pod topology spread constraints"
FOO = LabelSelector(match_expressions=(LabelSelectorRequirement(key="foo", operator="Exists"),))
WORDS: Mapping[str, Refusal | None] = {
    "ok": None,
    "U": resolvable(RULE, UNEVEN),
    "UAU": unresolvable(RULE, f"{UNEVEN} (missing required label)"),
    "fails": unresolvable("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"),
    "tainted": unresolvable("TaintToleration", "node(s) had untolerated taint(s)"),
}
ZONES = {"a": "z1", "b": "z1", "x": "z2", "y": "z2"}


def nodes(*, without_zone: str = "", tainted: str = "") -> list[Node]:
    return [
        replace(
            roomy(
                name,
                {HOSTNAME_LABEL: name} | ({} if name == without_zone else {ZONE: zone}),
            ),
            taints=(Taint(key="gpu"),) if name == tainted else (),
        )
        for name, zone in ZONES.items()
    ]


def running(counts: Sequence[int], labels: Mapping[str, str] | None = None) -> list[Pod]:
    return [
        standing(f"{name}-{index}", name, labels)
        for name, count in zip(ZONES, counts, strict=True)
        for index in range(count)
    ]


def standing(uid: str, on: str, labels: Mapping[str, str] | None = None) -> Pod:
    return Pod(
        namespace="default",
        name=uid,
        uid=uid,
        spec=PodSpec(),
        labels={"foo": ""} if labels is None else labels,
        node_name=on,
    )


def pending(
    *constraints: SpreadConstraint,
    labels: Mapping[str, str] | None = None,
    on_nodes: Sequence[str] = (),
) -> Pod:
    terms = (term(HOSTNAME_LABEL, "In", *on_nodes),) if on_nodes else None
    return Pod(
        namespace="default",
        name="pending",
        uid="pending",
        spec=PodSpec(neighbours=Neighbours(spread=constraints), required_node_terms=terms),
        labels={"foo": ""} if labels is None else labels,
    )


def over(key: str, skew: int = 1, **more: object) -> SpreadConstraint:
    constraint = SpreadConstraint(max_skew=skew, topology_key=key, selector=FOO)
    return replace(constraint, **more)


def expected(words: str) -> list[Refusal | None]:
    return [WORDS[word] for word in words.split()]


def row(
    name: str,
    pod: Pod,
    counts: Sequence[int],
    words: str,
    *,
    among: Sequence[Node] | None = None,
    others: Sequence[Pod] = (),
) -> ParameterSet:
    """Return one row: a pod, how many pods are on a, b, x and y, and what each of these says."""
    there = [*running(counts), *others]
    return pytest.param(pod, nodes() if among is None else among, there, words, id=name)


def elsewhere(count: int, on: str) -> list[Pod]:
    """Return pods of another namespace."""
    return [replace(standing(f"o{index}", on), namespace="other") for index in range(count)]


def leaving(count: int, on: str) -> list[Pod]:
    """Return pods that are being deleted."""
    return [replace(standing(f"l{index}", on), is_terminating=True) for index in range(count)]


def versions(count: int, on: str, version: str) -> list[Pod]:
    """Return pods of one version."""
    labels = {"foo": "", "ver": version}
    return [standing(f"v{version}-{index}", on, labels) for index in range(count)]


def by_version(*keys: str) -> Pod:
    """Return a pod of version 2 that is spread among pods that have these labels in common with it."""
    constraint = replace(over(ZONE), match_label_keys=keys)
    return pending(constraint, labels={"foo": "", "ver": "2"})


ANY = (2, 1, 0, 3)
NO_FOO: Mapping[str, str] = {}
TWO_USABLE = ("a", "y")


@pytest.mark.parametrize(
    ("pod", "among", "others", "words"),
    [
        row("S1", pending(over(ZONE)), (0, 0, 0, 0), "ok ok ok ok"),
        row("S2", pending(over(ZONE)), (1, 1, 1, 0), "U U ok ok"),
        row("S3", pending(over(ZONE), labels=NO_FOO), (1, 1, 1, 0), "ok ok ok ok"),
        row("S4", pending(over(ZONE)), (0, 0, 1, 1), "ok ok U U", others=elsewhere(2, "a")),
        row("S5", pending(over(ZONE)), (2, 1, 0, 3), "ok ok ok ok"),
        row("S6", pending(over(ZONE)), (0, 0, 1, 0), "ok UAU U U", among=nodes(without_zone="b")),
        row("S7", pending(over(HOSTNAME_LABEL)), (2, 1, 0, 3), "U U ok U"),
        row("S8", pending(over(HOSTNAME_LABEL, 2)), (2, 1, 0, 3), "U ok ok U"),
        row("S9", pending(over(HOSTNAME_LABEL), labels=NO_FOO), (2, 1, 0, 3), "U ok ok U"),
        row("S10", pending(over(ZONE)), (0, 1, 0, 1), "ok ok ok ok", others=leaving(2, "a")),
        row("S11", pending(over(ZONE, domains_min=3)), (1, 0, 1, 0), "U U U U"),
        row("S12", pending(over(ZONE, domains_min=2)), (1, 0, 1, 0), "ok ok ok ok"),
        # The least full of the two nodes that the pod may use has two pods, of all nodes none.
        row(
            "S13",
            pending(over(HOSTNAME_LABEL), on_nodes=TWO_USABLE),
            (2, 1, 0, 3),
            "ok fails fails U",
        ),
        row(
            "S14",
            pending(over(HOSTNAME_LABEL, honors_affinity=False), on_nodes=TWO_USABLE),
            (2, 1, 0, 3),
            "U fails fails U",
        ),
        row(
            "S15",
            pending(over(HOSTNAME_LABEL)),
            (1, 1, 0, 1),
            "U U tainted U",
            among=nodes(tainted="x"),
        ),
        row(
            "S16",
            pending(over(HOSTNAME_LABEL, honors_taints=True)),
            (1, 1, 0, 1),
            "ok ok tainted ok",
            among=nodes(tainted="x"),
        ),
        row("S17", pending(over(ZONE), over(HOSTNAME_LABEL)), (1, 0, 0, 2), "U ok U U"),
        row("S18", pending(over(ZONE, selector=LabelSelector())), (5, 0, 0, 0), "ok ok ok ok"),
        row(
            "S18 with a match key",
            pending(over(ZONE, selector=LabelSelector(), match_label_keys=("foo",))),
            (5, 0, 0, 0),
            "U U ok ok",
        ),
        row(
            "S19",
            by_version("ver", "absent"),
            (0, 0, 0, 0),
            "ok ok U U",
            others=[*versions(2, "a", "1"), *versions(1, "x", "2")],
        ),
        row("S20", pending(over("rack")), ANY, "UAU UAU UAU UAU"),
        row("S21", pending(over(ZONE, selector=None)), ANY, "ok ok ok ok"),
        row(
            "S21 without the key",
            pending(over(ZONE, selector=None, match_label_keys=("foo",))),
            ANY,
            "ok UAU ok ok",
            among=nodes(without_zone="b"),
        ),
    ],
)
def test_domains_take_pods_as_long_as_they_are_even(
    pod: Pod, among: Sequence[Node], others: Sequence[Pod], words: str
) -> None:
    assert answers(pod, among, others) == expected(words)


def test_soft_constraints_exclude_no_node() -> None:
    constraint = replace(over("rack"), is_hard=False)

    assert answers(pending(constraint), nodes(), running((5, 0, 0, 0))) == expected("ok ok ok ok")


def test_a_malformed_selector_ends_the_attempt() -> None:
    constraint = replace(over(ZONE), selector=label_selector({"foo": "bad value!"}))

    prepared = Framework().prepare(ask_of(pending(constraint)), ledger_of(nodes()))

    assert prepared.error.startswith(
        'running PreFilter plugin "PodTopologySpread": get constraints from pod: '
        "obtaining pod's hard topology spread constraints: values[0][foo]: Invalid value:"
    )


def test_constraints_of_the_profile_are_for_pods_without_their_own() -> None:
    framework = Framework(FrameworkConfig(default_spread=(replace(over(ZONE), selector=None),)))
    ledger = ledger_of(nodes(), running((1, 0, 0, 0)))
    ask = replace(ask_of(pending(), with_identity=True), default_selector=compile_selector(FOO))

    prepared = framework.prepare(ask, ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(4))

    assert verdicts.rule.astype(bool).tolist() == [True, True, False, False]
    assert not framework.prepare(ask_of(pending(), with_identity=True), ledger).cluster_checks

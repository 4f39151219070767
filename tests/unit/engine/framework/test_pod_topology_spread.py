"""PodTopologySpread: the table of its cases, and what the columns must keep up with."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pytest
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


def over(key: str, skew: int = 1) -> SpreadConstraint:
    return SpreadConstraint(max_skew=skew, topology_key=key, selector=FOO)


def expected(words: str) -> list[Refusal | None]:
    return [WORDS[word] for word in words.split()]


@pytest.mark.parametrize(
    ("name", "counts", "key", "skew", "lacks_foo", "words"),
    [
        ("S1", (0, 0, 0, 0), ZONE, 1, False, "ok ok ok ok"),
        ("S2", (1, 1, 1, 0), ZONE, 1, False, "U U ok ok"),
        ("S3", (1, 1, 1, 0), ZONE, 1, True, "ok ok ok ok"),
        ("S5", (2, 1, 0, 3), ZONE, 1, False, "ok ok ok ok"),
        ("S7", (2, 1, 0, 3), HOSTNAME_LABEL, 1, False, "U U ok U"),
        ("S8", (2, 1, 0, 3), HOSTNAME_LABEL, 2, False, "U ok ok U"),
        ("S9", (2, 1, 0, 3), HOSTNAME_LABEL, 1, True, "U ok ok U"),
        ("S20", (2, 1, 0, 3), "rack", 1, False, "UAU UAU UAU UAU"),
    ],
)
def test_domains_take_pods_as_long_as_they_are_even(
    name: str, counts: Sequence[int], key: str, skew: int, words: str, *, lacks_foo: bool
) -> None:
    pod = pending(over(key, skew), labels={} if lacks_foo else None)

    assert answers(pod, nodes(), running(counts)) == expected(words), name


def test_s4_pods_of_other_namespaces_do_not_count() -> None:
    others = [replace(standing(f"o{index}", "a"), namespace="other") for index in range(2)]

    found = answers(pending(over(ZONE)), nodes(), [*running((0, 0, 1, 1)), *others])

    assert found == expected("ok ok U U")


def test_s6_nodes_without_the_label_are_hopeless_and_do_not_count() -> None:
    found = answers(pending(over(ZONE)), nodes(without_zone="b"), running((0, 0, 1, 0)))

    assert found == expected("ok UAU U U")


def test_s10_pods_that_are_being_deleted_do_not_count() -> None:
    leaving = [replace(standing(f"l{index}", "a"), is_terminating=True) for index in range(2)]

    found = answers(pending(over(ZONE)), nodes(), [*leaving, *running((0, 1, 0, 1))])

    assert found == expected("ok ok ok ok")


@pytest.mark.parametrize(("domains", "words"), [(3, "U U U U"), (2, "ok ok ok ok")])
def test_s11_s12_too_few_domains_count_as_empty(domains: int, words: str) -> None:
    constraint = replace(over(ZONE), domains_min=domains)

    assert answers(pending(constraint), nodes(), running((1, 0, 1, 0))) == expected(words)


@pytest.mark.parametrize(
    ("honors", "words"), [(True, "ok fails fails U"), (False, "U fails fails U")]
)
def test_s13_s14_nodes_that_the_pod_cannot_use_count_only_if_asked(
    words: str, *, honors: bool
) -> None:
    constraint = replace(over(HOSTNAME_LABEL), honors_affinity=honors)
    pod = pending(constraint, on_nodes=["a", "y"])

    # Where the policy is honoured, the least full of the two usable nodes has two pods.
    assert answers(pod, nodes(), running((2, 1, 0, 3))) == expected(words)


@pytest.mark.parametrize(
    ("honors", "words"), [(False, "U U tainted U"), (True, "ok ok tainted ok")]
)
def test_s15_s16_tainted_nodes_count_unless_told_otherwise(words: str, *, honors: bool) -> None:
    constraint = replace(over(HOSTNAME_LABEL), honors_taints=honors)

    found = answers(pending(constraint), nodes(tainted="x"), running((1, 1, 0, 1)))

    assert found == expected(words)


def test_s17_all_constraints_must_hold() -> None:
    pod = pending(over(ZONE), over(HOSTNAME_LABEL))

    assert answers(pod, nodes(), running((1, 0, 0, 2))) == expected("U ok U U")


def test_s18_an_empty_selector_counts_nobody() -> None:
    constraint = replace(over(ZONE), selector=LabelSelector())

    assert answers(pending(constraint), nodes(), running((5, 0, 0, 0))) == expected("ok ok ok ok")


def test_a_match_key_makes_an_empty_selector_count() -> None:
    constraint = replace(over(ZONE), selector=LabelSelector(), match_label_keys=("foo",))

    assert answers(pending(constraint), nodes(), running((5, 0, 0, 0))) == expected("U U ok ok")


def test_s19_only_pods_with_the_same_value_of_a_match_key_count() -> None:
    constraint = replace(over(ZONE), match_label_keys=("ver", "absent"))
    old = [standing(f"old-{index}", "a", {"foo": "", "ver": "1"}) for index in range(2)]
    new = standing("new", "x", {"foo": "", "ver": "2"})

    found = answers(pending(constraint, labels={"foo": "", "ver": "2"}), nodes(), [*old, new])

    assert found == expected("ok ok U U")


def test_s21_a_missing_selector_counts_nobody() -> None:
    constraint = replace(over(ZONE), selector=None, match_label_keys=("foo",))

    assert answers(pending(constraint), nodes(), running((5, 0, 0, 0))) == expected("ok ok ok ok")


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

"""Tables of pods that claim devices stay true while pods come and go, also where nodes share devices."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.framework.framework import PASSES, Framework
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.table import FITS
from springtide.engine.placement.tables import Tables
from springtide.model.device_slices import NodeScope
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.resource_claims import ClaimTemplate
from tests.builders import node
from tests.offers import (
    ByAttribute,
    claim,
    claiming,
    content,
    objects,
    offered,
    request,
    sliced,
)

NODES = ("a", "b", "c")
OWN = [sliced(offered("d0"), offered("d1"), node=name) for name in NODES]
NET = sliced(offered("n0"), offered("n1"), pool="net", scope=NodeScope(is_everywhere=True))
TEMPLATES = [
    ClaimTemplate(namespace="default", name=f"t{count}", content=content(request(count=count)))
    for count in (1, 3)
]
PODS = (
    claiming(template="t1"),
    claiming(template="t3"),
    claiming("shared"),
    claiming("shared", template="t1"),
    claiming(),
)
STEPS = st.lists(
    st.tuples(st.integers(0, len(PODS) - 1), st.integers(0, len(NODES) - 1), st.booleans()),
    max_size=12,
)


@settings(max_examples=60)
@given(steps=STEPS, has_net=st.booleans())
def test_tables_say_what_fresh_rules_say(
    steps: list[tuple[int, int, bool]], *, has_net: bool
) -> None:
    found = objects(*OWN, *([NET] if has_net else []), *TEMPLATES, claim("shared"))
    overlay = Overlay(Ledger())
    for name in NODES:
        overlay.add_node(node(name))
    ledger = overlay.ledger
    tables = Tables(ledger, Framework(devices=found, selectors=ByAttribute()), {})
    classifier = Classifier({}, devices=found)
    overlay.fork()

    for number, (which, row, releases) in enumerate(steps):
        if releases and ledger.holdings:
            overlay.release(next(iter(ledger.holdings)))
        pod = replace(PODS[which], uid=f"pod-{number}")
        pod_class = classifier.classify(pod)
        placement = tables.place(pod_class, row)
        if isinstance(placement, Placement):
            overlay.hold(holding(pod.uid, pod_class, placement))
        ledger.check()

        assert fits(tables, classifier) == fresh(
            ledger, classifier, Framework(devices=found, selectors=ByAttribute())
        )

    overlay.revert()


def fits(tables: Tables, classifier: Classifier) -> list[list[bool]]:
    """Return for each pod on which rows it fits, by its table."""
    count = tables.ledger.count
    classes = map(classifier.classify, PODS)
    return [(tables.table(each).code[:count] == FITS).tolist() for each in classes]


def fresh(ledger: Ledger, classifier: Classifier, framework: Framework) -> list[list[bool]]:
    """Return for each pod on which rows it fits, by rules that have seen nothing before."""

    def judged(pod: Pod) -> list[bool]:
        prepared = framework.prepare(classifier.classify(pod).framework, ledger)
        verdicts = framework.evaluate(prepared, ledger, np.arange(ledger.count))
        return [code == PASSES for code in verdicts.rule.tolist()]

    return [judged(pod) for pod in PODS]

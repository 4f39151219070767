"""Laws of quotas: what is counted, what following others' pods changes, and what no plan may exceed."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.capacity.batches import batches
from springtide.engine.capacity.estimate import estimate
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import begin
from springtide.engine.headroom.room import room
from springtide.engine.headroom.stepping import stepped
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.quotas import Limits, Quotas
from tests.builders import card, cards, mig_card, node, pod
from tests.estimates import FAMILIES, limiter, tables_of, template
from tests.ledgers import content
from tests.property.test_tables import seen
from tests.quotas import GPUCORES, GPUMEM

NODES = (node("single"), node("wide"), node("mig"))
DEVICES = ((card(),), cards(5), (mig_card(), card("GPU-1")))
SPACES = ("a", "b", "free")
LIMITS = st.dictionaries(
    st.sampled_from(SPACES[:2]),
    st.dictionaries(
        st.sampled_from([GPUMEM, GPUCORES]),
        st.sampled_from([0, 60, 100, 5000, 16000, 30000, 70000, 200_000]),
        min_size=1,
    ),
)
ASKS = (
    pod(gpu=1, gpumem=5000),
    pod(gpu=1, gpumem=15000, gpucores=30),
    pod(gpu=2, gpumem=3000, gpucores=40),
    pod(gpu=1),
    pod(gpu=3),
    pod(),
)
PODS = st.tuples(st.sampled_from(SPACES), st.integers(0, len(ASKS) - 1))
STEPS = st.lists(
    st.sampled_from(["add", "place", "place", "place", "release", "fork", "revert", "look"]),
    min_size=5,
    max_size=30,
)


def wanted(drawn: tuple[str, int], number: int = 0) -> Pod:
    namespace, ask = drawn
    name = f"{namespace}-{ask}-{number}"
    return replace(ASKS[ask], namespace=namespace, name=name, uid=name)


class World:
    """A ledger with quotas, its overlay and its tables."""

    def __init__(self, limits: Limits) -> None:
        self.overlay = Overlay(Ledger())
        self.ledger = self.overlay.ledger
        self.ledger.quotas = Quotas(limits)
        self.classifier = Classifier(FAMILIES, quotas=self.ledger.quotas)
        self.tables = tables_of(self.ledger)
        self.placed = 0

    def perform(self, step: str, data: st.DataObject) -> None:
        """Change the ledger in one way, if that is possible now."""
        match step:
            case "add":
                kind = data.draw(st.integers(0, len(NODES) - 1))
                found = {"NVIDIA": template(NODES[kind], devices=DEVICES[kind]).inventories[0][1]}
                self.overlay.add_node(NODES[kind], found, name=f"node-{self.ledger.count}")
            case "place":
                self.place(wanted(data.draw(PODS), self.placed))
            case "release" if self.ledger.holdings:
                self.overlay.release(data.draw(st.sampled_from(sorted(self.ledger.holdings))))
            case "fork":
                self.overlay.fork()
            case "revert" if self.overlay.depth:
                self.overlay.revert()
            case _:
                pass

    def place(self, who: Pod) -> bool:
        pod_class = self.classifier.classify(who)
        placement = self.tables.first_fit(pod_class, self.tables.candidates(pod_class).tolist())
        if placement is None:
            return False
        self.placed += 1
        self.overlay.hold(holding(f"{who.uid}-{self.placed}", pod_class, placement))
        return True

    def classes(self) -> list[PodClass]:
        pods = [wanted((name, ask)) for name in SPACES for ask in range(len(ASKS))]
        return list(dict.fromkeys(map(self.classifier.classify, pods)))


def exceeded(ledger: Ledger) -> list[tuple[str, str]]:
    """Return the limits that are exceeded."""
    return [
        (namespace, resource)
        for namespace, limits in ledger.quotas.limits.items()
        for resource, limit in limits.items()
        if ledger.quotas.used(namespace, resource) > limit
    ]


@settings(max_examples=60)
@given(LIMITS, STEPS, st.data())
def test_following_what_others_hold_equals_starting_anew(
    limits: Limits, steps: list[str], data: st.DataObject
) -> None:
    world = World(limits)
    classes = world.classes()

    for step in steps:
        world.perform(step, data)
        if step == "look":
            seen(world.tables, data.draw(st.sampled_from(classes)))
        world.ledger.check()

    for pod_class in classes:
        anew = tables_of(world.ledger)
        # Candidates are an upper bound until somebody has asked for exact placements.
        assert seen(world.tables, pod_class)[2:] == seen(anew, pod_class)[2:]


@settings(max_examples=60)
@given(LIMITS, STEPS, st.data())
def test_taking_changes_back_takes_their_use_back(
    limits: Limits, steps: list[str], data: st.DataObject
) -> None:
    world = World(limits)
    for step in steps:
        world.perform(step, data)
    before = content(world.ledger)

    with world.overlay.trial():
        for drawn in data.draw(st.lists(PODS, max_size=5)):
            world.place(wanted(drawn))

    assert content(world.ledger) == before


@settings(max_examples=60)
@given(LIMITS, st.lists(PODS, max_size=20))
def test_no_limit_is_exceeded_by_placing(limits: Limits, drawn: list[tuple[str, int]]) -> None:
    world = World(limits)
    # Instances of MIG cards may be larger than what was weighed.
    for kind in (0, 1, 1):
        found = {"NVIDIA": template(NODES[kind], devices=DEVICES[kind]).inventories[0][1]}
        world.overlay.add_node(NODES[kind], found, name=f"node-{world.ledger.count}")

    for number, each in enumerate(drawn):
        world.place(wanted(each, number))

        assert not exceeded(world.ledger)


@settings(max_examples=60)
@given(LIMITS, st.lists(PODS, max_size=20))
def test_only_what_a_quota_bounds_differs_from_a_cluster_without(
    limits: Limits, drawn: list[tuple[str, int]]
) -> None:
    bound, free = World(limits), World({})
    for world in (bound, free):
        world.overlay.add_node(
            NODES[1], {"NVIDIA": template(NODES[1], devices=DEVICES[1]).inventories[0][1]}
        )

    for number, each in enumerate(drawn):
        who = wanted(each, number)
        answers = [world.tables.place(world.classifier.classify(who), 0) for world in (bound, free)]

        if isinstance(answers[0], Placement):
            assert isinstance(answers[1], Placement)
        elif isinstance(answers[1], Placement):
            assert "ResourceQuotaNotFit" in answers[0].text
        if isinstance(answers[0], Placement):
            for world in (bound, free):
                world.place(who)


def tables_with(limits: Limits) -> tuple[Tables, Overlay, Classifier]:
    overlay = Overlay(Ledger())
    overlay.ledger.quotas = Quotas(limits)
    overlay.add_node(node("old", cpu="100m", pods=0))
    classifier = Classifier(FAMILIES, quotas=overlay.ledger.quotas)
    return tables_of(overlay.ledger), overlay, classifier


@settings(max_examples=60)
@given(LIMITS, st.lists(PODS, min_size=1, max_size=12), st.integers(0, 1))
def test_an_estimate_takes_what_quotas_leave(
    limits: Limits, drawn: list[tuple[str, int]], kind: int
) -> None:
    tables, overlay, classifier = tables_with(limits)
    pods = [wanted(each, number) for number, each in enumerate(drawn)]
    found = batches(pods, classifier)
    asked = template(NODES[kind], devices=DEVICES[kind])
    start = begin(asked, tables, overlay, [each.pod_class for each in found])
    helped = [each for each in found if start.verdicts[each.pod_class] is None]

    with overlay.trial():
        answer = estimate(helped, start, limiter())
    with overlay.trial():
        rows = [start.add(f"new-{number}") for number in range(len(pods))]
        filled = fill(answer.placed, tables, overlay, classifier, first_row=rows[0])

        assert not filled.left
        assert not exceeded(overlay.ledger)
        assert not _more(answer.left, tables, rows, classifier)


def _more(
    left: Sequence[Pod], tables: Tables, rows: list[int], classifier: Classifier
) -> list[str]:
    """Return the pods left over that an empty new node would take all the same."""
    return [
        who.name
        for who in left
        if isinstance(tables.place(classifier.classify(who), rows[-1]), Placement)
    ]


@settings(max_examples=60)
@given(LIMITS, STEPS, PODS, st.data())
def test_room_is_what_placing_one_by_one_finds(
    limits: Limits, steps: list[str], drawn: tuple[str, int], data: st.DataObject
) -> None:
    world = World(limits)
    for step in steps:
        world.perform(step, data)
    pod_class = world.classifier.classify(wanted(drawn))

    found = room(pod_class, world.tables, world.overlay, Walks(world.tables))
    plain = stepped(pod_class, world.tables, world.overlay)

    assert found.counts.sum() == plain.counts.sum()

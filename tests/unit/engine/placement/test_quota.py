"""Which classes a quota concerns, and how little is judged anew when somebody of it comes or goes."""

from collections.abc import Hashable

from msgspec.structs import replace

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.beyond_quota import lacking
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import Rows, Verdicts
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.quota import Shortage, shortages
from springtide.engine.placement.tables import Tables
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.vendors.nvidia import Nvidia
from tests.builders import cards, node, pod
from tests.estimates import template
from tests.quotas import GPUCORES, GPUMEM


class Watched(Nvidia):
    """A family that remembers how many rows it was asked about in full."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def evaluate(self, ask: Hashable, columns: DeviceColumns, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows, vectorised."""
        self.asked.append(len(rows))
        return super().evaluate(ask, columns, rows)


class World:
    """Four nodes, and limits of namespaces."""

    def __init__(self, limits: dict[str, dict[str, int]]) -> None:
        self.family = Watched()
        families = {self.family.name: self.family}
        self.ledger = Ledger()
        self.ledger.quotas = Quotas(limits)
        made = template(node("n"), devices=cards(4)).inventories
        for index in range(4):
            self.ledger.add_node(node(f"n{index}"), dict(made))
        config = FrameworkConfig(ignored_resources=self.family.resource_names())
        self.tables = Tables(self.ledger, Framework(config), families)
        self.classifier = Classifier(families, quotas=self.ledger.quotas)

    def classify(self, wanted: Pod, namespace: str) -> PodClass:
        return self.classifier.classify(replace(wanted, namespace=namespace, uid=namespace))

    def place(self, pod_class: PodClass, row: int) -> None:
        placement = self.tables.place(pod_class, row)
        assert isinstance(placement, Placement), placement
        self.ledger.hold(holding(f"pod-{len(self.ledger.holdings)}", pod_class, placement))

    def newly_asked(self, pod_class: PodClass) -> list[int]:
        self.family.asked.clear()
        self.tables.table(pod_class)
        return list(self.family.asked)


ONE = pod(gpu=1, gpumem=1000)
TWO = pod(gpu=2, gpumem=1000)


def test_a_namespace_parts_classes_only_where_its_quota_is_about_what_they_ask() -> None:
    world = World({"a": {GPUMEM: 1}, "b": {GPUCORES: 1}, "c": {"huawei.com/Ascend310P-memory": 1}})

    of_cards = [world.classify(ONE, name) for name in "abcdd"]
    without = [world.classify(pod(), name) for name in "abd"]

    assert [each.quota for each in of_cards] == ["a", "b", "", "", ""]
    assert of_cards[2] is of_cards[3] is of_cards[4]
    assert without[0] is without[1] is without[2]


def test_only_classes_that_a_quota_may_bind_are_judged_anew() -> None:
    world = World({"a": {GPUMEM: 5000}, "b": {GPUMEM: 1500}})
    single, double = (world.classify(each, "a") for each in (ONE, TWO))
    other = world.classify(TWO, "b")
    for each in (single, double, other):
        world.tables.table(each)

    world.place(single, 0)
    ample = [world.newly_asked(each) for each in (single, double)]
    others = world.newly_asked(other)
    for row in (1, 2, 3):
        world.place(single, row)
    bound = [world.newly_asked(each) for each in (single, double)]

    # What is left covers them whatever they take, so that ceilings tell; 1000 is too little for two.
    assert ample == [[], []]
    assert others == [1]
    assert bound == [[], [4]]


def test_use_that_makes_no_difference_is_not_followed() -> None:
    world = World({"a": {GPUMEM: 1500, GPUCORES: 1000}})
    double = world.classify(pod(gpu=2, gpumem=1000, gpucores=10), "a")
    small = world.classify(pod(gpu=1, gpumem=100, gpucores=10), "a")
    for _ in range(6):
        world.place(small, 0)
    world.tables.table(double)

    world.place(small, 1)

    # Neither 900 nor 800 is enough for one card of 1000.
    assert world.newly_asked(double) == [1]


def test_what_lacks_is_told_where_nothing_else_does() -> None:
    world = World({"a": {GPUMEM: 1500}})

    short = lacking(world.classify(TWO, "a"), world.tables)

    assert short == (Shortage(namespace="a", resource=GPUMEM, used=0, limit=1500, asked=2000),)
    assert lacking(world.classify(ONE, "a"), world.tables) == ()
    assert lacking(world.classify(pod(gpu=1, gpumem=90000), "a"), world.tables) == ()


def test_numbers_of_a_shortage_are_in_the_unit_of_limits_where_limits_are_named() -> None:
    family = Watched()
    family.config = replace(family.config, memory_factor=10)
    quotas = Quotas({"a": {GPUMEM: 500}})

    (short,) = shortages(
        "a", ((GPUMEM, 705), (GPUCORES, 5)), quotas=quotas, families={family.name: family}
    )

    assert (short.name, short.stated, short.enough) == ("limits.nvidia.com/gpumem", 50, 71)

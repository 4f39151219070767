"""Plans: fill, grow, explain, and leave no trace."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from springtide.base.clock import Clock
from springtide.base.progress import Progress, Unwatched
from springtide.engine.capacity.asking import ROUNDS_MAX
from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.quotas import Quota
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.capacity.situation import Plan, Situation, SizedGroup
from springtide.engine.framework.ask import keys_read
from springtide.engine.placement.classes import Classifier, standing_holding
from springtide.engine.simulation.templates import Template
from springtide.model.device import Inventory
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.presence import standing
from springtide.model.refusal import Refusal
from springtide.policies.expanders import LeastNodes, LeastWaste, Price, PriceModel
from tests.builders import away, cards, near, node, pod, replicas, spread, term
from tests.estimates import FAMILIES, HandClock, tables_of, template
from tests.ledgers import content


def sized(
    name: str,
    of: Template | Refusal,
    *,
    size: int = 0,
    max_size: int = 10,
    min_size: int = 0,
    is_zero_or_max: bool = False,
) -> SizedGroup:
    asked = NodeGroup(
        name=name, max_size=max_size, min_size=min_size, is_zero_or_max=is_zero_or_max
    )
    if isinstance(of, Template):
        named = replace(of.node, name=f"template-node-for-{name}")
        of = replace(of, group=asked, node=named)
    return SizedGroup(group=asked, size=size, template=of)


def planned(
    pending: Sequence[Pod],
    groups: Sequence[SizedGroup],
    *,
    ledger: Ledger | None = None,
    bounds: Bounds | None = None,
    chain: Sequence[Expander] = (LeastWaste(), LeastNodes()),
    clock: Clock | None = None,
    manner: Manner | None = None,
    progress: Progress | None = None,
) -> Plan:
    return plan(
        Situation(
            tables=tables_of(Ledger() if ledger is None else ledger),
            classifier=Classifier(FAMILIES, keys=keys_read(each.spec for each in pending)),
            pending=pending,
            groups=groups,
            clock=clock or HandClock(),
            bounds=bounds or Bounds(),
            manner=manner or Manner(),
            progress=progress or Unwatched(),
        ),
        chain,
    )


class Watching:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.counts: list[tuple[int, int]] = []

    def begin(self, doing: str) -> None:
        self.begun.append(doing)

    def placed(self, done: int, total: int) -> None:
        self.counts.append((done, total))


def names(pods: Sequence[Pod]) -> list[str]:
    return [each.name for each in pods]


SMALL, LARGE = template(node(cpu=4)), template(node(cpu=16))
UNKNOWN = Refusal(rule="template", reasons=("no template: nobody knows",))


def test_pods_that_fit_existing_nodes_cost_nothing() -> None:
    ledger = Ledger()
    ledger.add_node(node("old", cpu=4))

    answer = planned(replicas(3, pod("p", cpu=2)), [sized("g", SMALL)], ledger=ledger)

    assert [(each.name, on) for each, on in answer.fitting] == [("p-0", "old"), ("p-1", "old")]
    assert answer.sizes == (("g", 0, 1),)


def test_a_plan_says_how_far_it_is_and_answers_the_same() -> None:
    ledger, watching = Ledger(), Watching()
    ledger.add_node(node("old", cpu=4))
    pending = [*replicas(3, pod("p", cpu=2)), pod("q", cpu=99)]

    answer = planned(pending, [sized("g", SMALL)], ledger=ledger, progress=watching)

    assert answer == planned(pending, [sized("g", SMALL)], ledger=ledger)
    assert watching.begun == [
        "Planning: step 1",
        "Planning: step 2",
        "Explaining what fits nowhere",
    ]
    assert watching.counts == [(1, 4), (2, 4), (2, 4), (3, 4)]


def test_a_plan_leaves_no_trace() -> None:
    ledger = Ledger()
    ledger.add_node(node("old"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    before = content(ledger)
    pending = [*replicas(9, pod("a", gpu=1, gpumem=9000)), *replicas(9, pod("b", cpu=3))]

    planned(pending, [sized("g", template(node(), devices=cards(2)))], ledger=ledger)

    assert content(ledger) == before
    ledger.check()


def test_the_same_question_gets_the_same_answer() -> None:
    pending = [*replicas(9, pod("a", cpu=3)), *replicas(9, pod("b", cpu=1))]
    groups = [sized("small", SMALL), sized("large", LARGE)]

    assert planned(pending, groups) == planned(pending, groups)


def test_each_step_names_its_group_with_the_reason_and_the_groups_passed_over() -> None:
    answer = planned([pod("p", cpu=4)], [sized("large", LARGE), sized("small", SMALL)])

    (step,) = answer.steps
    assert (step.group.name, step.size_before, step.size_after) == ("small", 0, 1)
    assert step.why == "least-waste: 0% of cpu and 100% of memory stay free"
    assert step.rejected == (("large", "least-waste: 75% of cpu and 100% of memory stay free"),)
    assert [(each.name, names(each.pods)) for each in step.nodes] == [("small-new-1", ["p"])]


def test_rounds_go_on_until_no_group_helps() -> None:
    pending = [*replicas(2, pod("big", cpu=12)), *replicas(1, pod("huge", cpu=99))]
    groups = [sized("small", SMALL), sized("large", LARGE)]

    answer = planned([*pending, pod("little", cpu=4)], groups)

    assert answer.sizes == (("small", 0, 1), ("large", 0, 2))
    assert [names(each.pods) for each in answer.stuck] == [["huge-0"]]


def test_new_nodes_are_numbered_behind_those_that_exist() -> None:
    answer = planned(replicas(2, pod("p", cpu=3)), [sized("g", SMALL, size=3)])

    (step,) = answer.steps
    assert [each.name for each in step.nodes] == ["g-new-4", "g-new-5"]


def test_a_group_grows_to_its_minimum_at_least() -> None:
    answer = planned([pod("p", cpu=3)], [sized("g", SMALL, min_size=3)])

    assert answer.sizes == (("g", 0, 3),)


def test_groups_that_no_pod_needs_are_raised_to_their_minimum_if_asked() -> None:
    groups = [sized("g", SMALL), sized("low", SMALL, size=1, min_size=3)]
    manner = Manner(raises_to_minimum=True)

    answer = planned([pod("p", cpu=3)], groups, manner=manner)

    assert answer.sizes == (("g", 0, 1), ("low", 1, 3))
    assert [step.is_raise for step in answer.steps] == [False, True]
    assert answer.steps[1].nodes == ()


def test_pods_that_no_expander_helps_run_on_nodes_that_are_raised_anyway() -> None:
    groups = [sized(name, SMALL, min_size=1) for name in ("a", "b")]
    manner = Manner(raises_to_minimum=True)

    answer = planned([pod("p", cpu=3)], groups, chain=[Price(PriceModel())], manner=manner)

    assert answer.stuck == ()
    assert answer.sizes == (("a", 0, 1), ("b", 0, 1))
    assert [names(each.pods) for step in answer.steps for each in step.nodes] == [["p"]]


def test_a_group_that_limits_keep_below_its_minimum_is_told() -> None:
    manner = Manner(raises_to_minimum=True)

    answer = planned(
        [], [sized("g", SMALL, min_size=2)], bounds=Bounds(nodes_total_max=1), manner=manner
    )

    assert answer.sizes == (("g", 0, 1),)
    assert [(name, each.text) for name, each in answer.short] == [
        ("g", "max total nodes in cluster reached")
    ]


def test_a_full_group_is_told_to_be_full() -> None:
    answer = planned(replicas(3, pod("p", cpu=3)), [sized("g", SMALL, max_size=1)])

    (stuck,) = answer.stuck
    assert len(stuck.pods) == 2
    assert stuck.on_groups == (
        (
            "g",
            Refusal(
                rule="limit",
                reasons=("max node group size reached",),
                detail="1 of at most 1 nodes",
            ),
        ),
    )


def test_a_full_cluster_is_told_to_be_full() -> None:
    ledger = Ledger()
    ledger.add_node(node("old", cpu="10m"))

    answer = planned(
        replicas(3, pod("p", cpu=3)),
        [sized("g", SMALL)],
        ledger=ledger,
        bounds=Bounds(nodes_total_max=3),
    )

    (stuck,) = answer.stuck
    assert answer.sizes == (("g", 0, 2),)
    assert stuck.on_groups[0][1].text == "max total nodes in cluster reached"


def test_a_group_that_no_expander_takes_is_told_so() -> None:
    groups = [sized("a", SMALL), sized("b", SMALL)]

    answer = planned([pod("p")], groups, chain=[Price(PriceModel())])

    assert answer.steps == ()
    assert [(name, each.text) for name, each in answer.stuck[0].on_groups] == [
        ("a", "price: the group has no price"),
        ("b", "price: the group has no price"),
    ]


class HastyClock:
    """A clock that is an hour later at every look."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic_s(self) -> float:
        """Return the seconds so far."""
        self.looks += 1
        return self.looks * 3600.0


def test_running_out_of_time_is_told_so() -> None:
    answer = planned([pod("p")], [sized("g", SMALL)], clock=HastyClock())

    assert answer.stuck[0].on_groups[0][1].text == "time limit of the estimate reached"


def test_every_group_takes_what_only_it_can_take() -> None:
    pending = [*replicas(2, pod("huge", cpu=12)), *replicas(2, pod("little", cpu=3))]
    groups = [sized("small", SMALL, max_size=1), sized("large", LARGE, max_size=1)]

    answer = planned(pending, groups)

    assert answer.sizes == (("small", 0, 1), ("large", 0, 1))
    assert [names(each.pods) for each in answer.stuck] == [["huge-1"]]


def test_a_group_without_template_says_why() -> None:
    answer = planned([pod("p")], [sized("g", UNKNOWN)])

    assert answer.stuck[0].on_groups == (("g", UNKNOWN),)
    assert answer.objections == (("g", ((UNKNOWN, 1),)),)


def test_objections_count_the_pods_that_a_group_refuses() -> None:
    pending = [*replicas(3, pod("big", cpu=9)), *replicas(5, pod("bigger", cpu=10))]

    answer = planned([*pending, pod("fine", cpu=1)], [sized("g", SMALL)])

    ((name, found),) = answer.objections
    assert name == "g"
    assert [(refusal.text, refusal.detail, count) for refusal, count in found] == [
        ("Insufficient cpu", "10 cpu asked, 4 free", 5),
        ("Insufficient cpu", "9 cpu asked, 4 free", 3),
    ]


def test_the_closest_group_is_the_one_with_the_least_in_the_way() -> None:
    selective = pod("p", gpu=1, gpumem=30000, selector={"pool": "a"})
    labelled = node(labels={"pool": "a"})

    answer = planned(
        [selective],
        [
            sized("elsewhere", template(node(), devices=cards(1))),
            sized("unknown", UNKNOWN),
            sized("plain", template(labelled)),
            sized("small", template(labelled, devices=cards(1, memory=10000))),
            sized("large", template(labelled, devices=cards(1))),
        ],
    )

    assert answer.stuck[0].closest == "large"


def test_a_group_where_other_pods_are_in_the_way_is_closer_than_one_the_pod_avoids() -> None:
    listening = pod("p", ports=[80], selector={"pool": "a"})
    crowded = template(node(labels={"pool": "a"}), pods=[pod("daemon", ports=[80])])

    answer = planned([listening], [sized("avoided", SMALL), sized("crowded", crowded)])

    assert answer.stuck[0].closest == "crowded"


def test_refusals_of_existing_nodes_are_counted() -> None:
    ledger = Ledger()
    for name in ("a", "b"):
        ledger.add_node(node(name, cpu=1))

    answer = planned([pod("p", cpu=2)], [sized("g", SMALL, max_size=0)], ledger=ledger)

    ((refusal, count),) = answer.stuck[0].on_nodes
    assert (refusal.text, count) == ("Insufficient cpu", 2)


def test_pods_that_look_at_names_are_planned_in_later_rounds_too() -> None:
    anywhere = (term("kubernetes.io/hostname", "NotIn", "nobody"),)
    first, second = replicas(2, pod("a", cpu=12)), replicas(5, pod("b", cpu=3, terms=anywhere))

    answer = planned(
        [*first, *second], [sized("large", LARGE, max_size=2), sized("small", SMALL, max_size=9)]
    )

    assert answer.stuck == ()


def test_no_more_nodes_are_added_in_one_step_than_permitted() -> None:
    answer = planned(
        replicas(5, pod("p", cpu=3)), [sized("g", SMALL)], bounds=Bounds(nodes_per_step_max=2)
    )

    assert [each.size_after - each.size_before for each in answer.steps] == [2, 2, 1]


def test_groups_are_looked_up_by_their_first_of_equals() -> None:
    answer = planned([pod("p", cpu=4)], [sized("b", SMALL), sized("a", SMALL)])

    assert answer.sizes == (("b", 0, 1), ("a", 0, 0))
    assert answer.steps[0].rejected == (("a", "as good as b, which is named first"),)


def test_without_groups_everything_is_stuck() -> None:
    answer = planned([pod("p")], [])

    assert (answer.steps, answer.stuck[0].closest) == ((), "")


BALANCING = Manner(similarity=Similarity())


def test_similar_groups_grow_together() -> None:
    pending = replicas(5, pod("p", cpu=3))
    groups = [sized("a", SMALL), sized("b", SMALL, size=1)]

    answer = planned(pending, groups, manner=BALANCING)

    assert answer.sizes == (("a", 0, 3), ("b", 1, 3))
    assert answer.steps[1].why == "shares what a would get, being similar to it"
    assert sum(len(each.pods) for step in answer.steps for each in step.nodes) == 5
    assert answer.stuck == ()


def test_what_a_slightly_smaller_group_cannot_take_goes_into_the_next_round() -> None:
    # Two per cent less memory are similar, but not enough for a pod of the whole node.
    small = replace(SMALL.node, allocatable=node(cpu=4, memory="62Gi").allocatable)
    groups = [sized("a", SMALL), sized("b", replace(SMALL, node=small))]
    pending = replicas(4, pod("p", memory="31744Mi"))
    pending = (*pending, *replicas(2, pod("q", memory="64Gi")))

    answer = planned(pending, groups, manner=BALANCING)

    placed = [each.name for step in answer.steps for on in step.nodes for each in on.pods]
    assert sorted(placed) == sorted(each.name for each in pending)
    assert answer.stuck == ()


def test_a_slightly_smaller_group_takes_a_part_of_what_was_meant_for_it() -> None:
    small = replace(SMALL.node, allocatable=node(cpu=4, memory="62Gi").allocatable)
    groups = [sized("a", SMALL), sized("b", replace(SMALL, node=small))]

    answer = planned(replicas(4, pod("p", memory="32Gi")), groups, manner=BALANCING)

    assert [len(each.pods) for step in answer.steps for each in step.nodes] == [2, 1, 1]
    assert answer.stuck == ()


def test_a_quota_ends_the_plan_and_is_told() -> None:
    ledger = Ledger()
    ledger.add_node(node("old", cpu=1, pods=0))
    bounds = Bounds(quotas=(Quota(limits=(("cpu", 9),)),))

    answer = planned(
        replicas(5, pod("p", cpu=3)), [sized("g", SMALL)], ledger=ledger, bounds=bounds
    )

    (stuck,) = answer.stuck
    assert answer.sizes == (("g", 0, 2),)
    assert len(stuck.pods) == 3
    assert [refusal.text for _, refusal in stuck.on_groups] == [
        'exceeded quota: "cluster-wide", resources: cpu'
    ]


def test_a_quota_holds_for_the_smallest_size_of_a_group_too() -> None:
    bounds = Bounds(quotas=(Quota(limits=(("cpu", 8),)),))

    answer = planned([pod("p", cpu=3)], [sized("g", SMALL, min_size=3)], bounds=bounds)

    assert answer.sizes == (("g", 0, 2),)


def test_a_group_of_all_or_none_grows_to_all_and_its_spare_nodes_take_further_pods() -> None:
    groups = [sized("all", LARGE, max_size=3, is_zero_or_max=True), sized("one", SMALL)]
    pending = [*replicas(1, pod("p", cpu=12)), *replicas(2, pod("q", cpu=16))]

    answer = planned(pending, groups)

    assert answer.sizes == (("all", 0, 3), ("one", 0, 0))
    assert sum(len(step.nodes) for step in answer.steps) == 3


def test_a_group_of_all_or_none_is_passed_over_where_fewer_nodes_would_do() -> None:
    groups = [sized("all", SMALL, max_size=9, is_zero_or_max=True), sized("one", SMALL)]

    answer = planned([pod("p", cpu=3)], groups)

    assert answer.sizes == (("all", 0, 0), ("one", 0, 1))


def in_zone(zone: str, *, pods: Sequence[Pod] = ()) -> Template:
    return template(node(cpu=4, labels={"zone": zone}), pods=pods)


def test_pods_that_keep_each_other_off_get_a_node_each() -> None:
    apart = pod("p", cpu=1, labels={"app": "a"}, neighbours=away("kubernetes.io/hostname", "a"))

    answer = planned(replicas(3, apart), [sized("g", SMALL)])

    assert answer.sizes == (("g", 0, 3),)
    assert [names(each.pods) for step in answer.steps for each in step.nodes] == [
        ["p-0"],
        ["p-1"],
        ["p-2"],
    ]


def test_pods_that_are_spread_over_zones_need_a_group_in_each() -> None:
    even = pod("p", cpu=2, labels={"app": "a"}, neighbours=spread("zone"))
    ledger = Ledger()
    for zone in ("a", "b"):
        ledger.add_node(node(f"full-{zone}", cpu=0, labels={"zone": zone}))

    answer = planned(
        replicas(4, even), [sized("a", in_zone("a")), sized("b", in_zone("b"))], ledger=ledger
    )
    alone = planned(replicas(4, even), [sized("a", in_zone("a"))], ledger=ledger)

    assert answer.stuck == ()
    assert sum(len(each.pods) for step in answer.steps for each in step.nodes) == 4
    assert alone.sizes == (("a", 0, 1),)
    (stuck,) = alone.stuck
    assert names(stuck.pods) == ["p-1", "p-2", "p-3"]
    ((_, refusal),) = stuck.on_groups
    assert refusal.reasons == ("node(s) didn't match pod topology spread constraints",)


def test_a_template_is_asked_without_its_neighbours() -> None:
    cache = replace(pod("cache", daemon_of="cache"), labels={"app": "cache"})
    wanting = pod("p", cpu=1, neighbours=near("zone", "cache"))
    groups = [sized("plain", in_zone("a")), sized("cached", in_zone("a", pods=[cache]))]

    answer = planned([wanting], groups)

    assert answer.sizes == (("plain", 0, 0), ("cached", 0, 1))


def test_a_plan_notices_what_it_has_placed_itself() -> None:
    first = pod("first", cpu=3, labels={"app": "first"}, neighbours=near("zone", "first"))
    second = pod("second", cpu=3, neighbours=near("zone", "first"))

    answer = planned([second, first], [sized("g", in_zone("a"))])

    assert answer.stuck == ()
    assert answer.sizes == (("g", 0, 2),)


def test_new_nodes_may_let_pods_onto_nodes_that_are_there() -> None:
    ledger = Ledger()
    ledger.add_node(node("old", cpu=3, labels={"kubernetes.io/hostname": "old"}))
    even = pod("p", cpu=1, labels={"app": "a"}, neighbours=spread("kubernetes.io/hostname"))

    answer = planned(replicas(4, even), [sized("g", SMALL)], ledger=ledger)

    assert answer.stuck == ()
    assert {on for _, on in answer.fitting} == {"old"}
    placed = [each for step in answer.steps for item in step.nodes for each in item.pods]
    assert len(answer.fitting) + len(placed) == 4
    ledger.check()


def zones(*names: str, size: int = 4) -> list[SizedGroup]:
    """Groups of nodes of so many cores, one in each zone."""
    return [sized(f"in-{name}", template(node(cpu=size, labels={"zone": name}))) for name in names]


def in_zones(answer: Plan) -> Counter[str]:
    counts: Counter[str] = Counter()
    for step in answer.steps:
        counts[step.group.name] += sum(len(each.pods) for each in step.nodes)
    return counts


def spread_pods(count: int) -> tuple[Pod, ...]:
    return replicas(count, pod("p", cpu=1, labels={"app": "a"}, neighbours=spread("zone")))


def test_nodes_of_earlier_steps_are_filled_as_pods_are_spread_further() -> None:
    ledger = Ledger()
    for name in ("a", "b"):
        ledger.add_node(node(f"full-{name}", cpu=0, pods=0, labels={"zone": name}))

    answer = planned(spread_pods(8), zones("a", "b"), ledger=ledger)

    assert answer.sizes == (("in-a", 0, 1), ("in-b", 0, 1))
    assert in_zones(answer) == {"in-a": 4, "in-b": 4}
    assert answer.stuck == ()


def test_pods_that_are_spread_further_go_to_nodes_that_are_there_too() -> None:
    ledger = Ledger()
    ledger.add_node(node("roomy", cpu=4, labels={"zone": "a"}))
    ledger.add_node(node("full", cpu=0, pods=0, labels={"zone": "b"}))

    answer = planned(spread_pods(8), zones("b"), ledger=ledger)

    assert answer.sizes == (("in-b", 0, 1),)
    assert [on for _, on in answer.fitting] == ["roomy"] * 4


def test_groups_of_several_zones_that_grow_together_come_up_together() -> None:
    groups = zones("a", "b", "c")
    manner = Manner(similarity=Similarity(ignored_labels=frozenset({"zone"})))

    answer = planned(spread_pods(14), groups, manner=manner)

    counts = in_zones(answer)
    assert answer.stuck == ()
    assert sum(counts.values()) == 14
    assert max(counts.values()) - min(counts.values()) <= 1


def test_nodes_that_shut_pods_out_once_they_are_there_together_are_not_planned() -> None:
    # Either group alone would do; together they open a new zone and a new rack, in different nodes.
    ledger = Ledger()
    row = ledger.add_node(node("old", cpu=0, pods=1, labels={"zone": "a", "rack": "1"}))
    held = pod("held", labels={"app": "a"})
    ledger.hold(standing_holding(held, row, presence=standing(held)))
    both = replace(spread("zone"), spread=(*spread("zone").spread, *spread("rack").spread))
    groups = [
        sized("g", template(node(cpu=1, labels={"zone": "b", "rack": "1"}))),
        sized("h", template(node(cpu=1, labels={"zone": "a", "rack": "2"}))),
    ]
    manner = Manner(similarity=Similarity(ignored_labels=frozenset({"zone", "rack"})))

    answer = planned(
        replicas(2, pod("p", cpu=1, labels={"app": "a"}, neighbours=both)),
        groups,
        ledger=ledger,
        manner=manner,
    )

    assert answer.sizes == (("g", 0, 0), ("h", 0, 0))
    assert {refusal.text for _, refusal in answer.stuck[0].on_groups} == {
        "new nodes that come up together take none of the pods"
    }


def test_a_plan_that_takes_too_many_steps_says_so() -> None:
    answer = planned(
        replicas(ROUNDS_MAX + 1, pod("p", cpu=3)),
        [sized("g", SMALL, max_size=2 * ROUNDS_MAX)],
        bounds=Bounds(nodes_per_step_max=1),
    )

    (left,) = answer.stuck
    assert len(left.pods) == 1
    assert left.on_groups[0][1].text == f"a plan takes at most {ROUNDS_MAX} steps"

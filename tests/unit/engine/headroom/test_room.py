"""The room for a class: counts by node, and what refuses the next pod there."""

from springtide.base.taints import Taint
from springtide.engine.headroom import room
from springtide.engine.headroom.stepping import PODS_MAX
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import Ask
from springtide.engine.placement.tables import Tables
from springtide.model.device import Allocation, DeviceView
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.builders import away, card, cards, mig_card, node, pod, spread
from tests.estimates import FAMILIES, tables_of
from tests.headrooms import ledger_of, one_by_one, room_of, told
from tests.ledgers import content


def reasons(refusals: dict[int, Refusal]) -> list[str]:
    """Return the text of each row's refusal."""
    return [refusals[row].text for row in sorted(refusals)]


def test_resources_divide() -> None:
    ledger = ledger_of([(node(cpu=8, memory="64Gi"), ()), (node(cpu=3, memory="3Gi"), ())])

    counts, refusals = told(room_of(pod(cpu=2, memory="1Gi"), ledger))

    assert counts == [4, 1]
    assert reasons(refusals) == ["Insufficient cpu", "Insufficient cpu"]


def test_several_shortages_are_all_told() -> None:
    ledger = ledger_of([(node(cpu=4, memory="4Gi"), ())])

    _, refusals = told(room_of(pod(cpu=1, memory="1Gi"), ledger))

    assert refusals[0].reasons == ("Insufficient cpu", "Insufficient memory")


def test_a_node_has_each_port_once() -> None:
    ledger = ledger_of([(node(), ()), (node(), ())], running=[(pod(ports=[80]), 1)])

    counts, refusals = told(room_of(pod(ports=[80]), ledger))

    assert counts == [1, 0]
    assert set(reasons(refusals)) == {"node(s) didn't have free ports for the requested pod ports"}


def test_what_runs_is_counted() -> None:
    ledger = ledger_of(
        [(node(cpu=64), cards(2, memory=10000))], running=[(pod(gpu=1, gpumem=9000), 0)]
    )

    counts, refusals = told(room_of(pod(gpu=1, gpumem=2500), ledger))

    assert counts == [4]
    assert reasons(refusals) == ["2/2 CardInsufficientMemory"]


def test_the_first_rule_that_refuses_has_the_word() -> None:
    ledger = ledger_of([(node(cpu=2), cards(2, memory=10000))])

    counts, refusals = told(room_of(pod(cpu=1, gpu=1, gpumem=10000), ledger))

    assert counts == [2]
    assert reasons(refusals) == ["Insufficient cpu"]


def test_nodes_that_never_take_such_a_pod_say_why() -> None:
    tainted = node(taints=[Taint(key="gpu")])
    ledger = ledger_of([(tainted, cards(1)), (node(), ())])

    counts, refusals = told(room_of(pod(gpu=1), ledger))

    assert counts == [0, 0]
    assert refusals[1].text == "node unregistered"
    assert all(refusal.is_unresolvable for refusal in refusals.values())


def test_a_closed_node_takes_nobody() -> None:
    ledger = ledger_of([(node(), cards(1))])
    ledger.close(0, "NVIDIA", "some-pod", "its allocation cannot be read")

    counts, refusals = told(room_of(pod(gpu=1, gpumem=100), ledger))

    assert counts == [0]
    assert reasons(refusals) == ["its allocation cannot be read"]


def test_whole_cards_are_taken_in_full_sets() -> None:
    ledger = ledger_of([(node(cpu=64), cards(8))], running=[(pod(gpu=1, gpucores=100), 0)])

    counts, refusals = told(room_of(pod(gpu=2, gpucores=100), ledger))

    assert counts == [3]
    assert reasons(refusals) == [
        "1/8 AllocatedCardsInsufficientRequest, 7/8 CardInsufficientMemory"
    ]


def test_instances_of_a_mig_card_are_walked() -> None:
    ledger = ledger_of([(node(), (mig_card(),)), (node(), (mig_card(),))])

    counts, _ = told(room_of(pod(gpu=1, gpumem=5000), ledger))

    assert counts == [7, 7]


def test_two_containers_on_cards_equal_placing_one_by_one() -> None:
    ledger = ledger_of([(node(cpu=64), (card("GPU-0", slots=3), card("GPU-1", memory=9000)))])
    first = pod(gpu=1, gpumem=4000)
    both = (*first.spec.containers, *pod(gpu=1, gpumem=3000).spec.containers)
    asked = Pod(
        namespace="default",
        name="both",
        uid="both",
        spec=type(first.spec)(containers=both),
    )

    answer = told(room_of(asked, ledger))

    assert answer == one_by_one(asked, tables_of(ledger))
    assert answer[0] == [2]


def test_pods_that_keep_away_from_each_other_go_one_to_a_node() -> None:
    ledger = ledger_of([(node(labels={"kubernetes.io/hostname": name}), ()) for name in "abc"])
    before = content(ledger)
    asked = pod(neighbours=away("kubernetes.io/hostname", "a"), labels={"app": "a"})

    counts, refusals = told(room_of(asked, ledger))

    assert counts == [1, 1, 1]
    assert reasons(refusals) == ["node(s) didn't match pod anti-affinity rules"] * 3
    assert content(ledger) == before


def test_a_hard_spread_ends_with_the_smallest_zone() -> None:
    nodes = [(node(cpu=cpu, labels={"zone": zone}), ()) for zone, cpu in (("a", 2), ("b", 9))]
    ledger = ledger_of(nodes)
    asked = pod(cpu=1, neighbours=spread("zone"), labels={"app": "a"})

    counts, _ = told(room_of(asked, ledger))

    assert counts == [2, 3]


def test_rules_of_pods_that_run_do_not_slow_others_down() -> None:
    ledger = ledger_of([(node(cpu=4000, pods=5000, labels={"zone": "a"}), ())])
    asked = pod(cpu=1, labels={"app": "b"})

    answer = room_of(asked, ledger)

    assert answer.counts.tolist() == [4000]
    assert not answer.is_cut


def test_the_search_pod_by_pod_is_cut_short() -> None:
    ledger = ledger_of([(node(cpu=4000, pods=5000, labels={"zone": "a"}), ())])
    asked = pod(cpu=1, neighbours=spread("zone", skew=9000), labels={"app": "a"})

    answer = room_of(asked, ledger)

    assert answer.counts.tolist() == [PODS_MAX]
    assert answer.is_cut


def test_without_nodes_there_is_no_room() -> None:
    tables = tables_of(ledger_of([]))

    answer = room(
        Classifier(FAMILIES).classify(pod(gpu=1)), tables, Overlay(tables.ledger), Walks(tables)
    )

    assert answer.counts.tolist() == []
    assert list(answer.refusals) == []


def test_one_walk_serves_all_nodes_in_the_same_state() -> None:
    ledger = ledger_of([(node(cpu=64), cards(3, memory=9000))] * 40)
    tables = CountingTables(ledger, tables_of(ledger).framework, FAMILIES)
    pod_class = Classifier(FAMILIES).classify(
        pod(gpu=2, gpumem=4000, annotations={"hami.io/gpu-scheduler-policy": "numa,spread"})
    )

    answer = room(pod_class, tables, Overlay(ledger), Walks(tables))

    assert answer.counts.tolist() == [3] * 40
    assert tables.placements == 4


class CountingTables(Tables):
    """Tables that count exact placements."""

    placements = 0

    def place_on(self, ask: Ask, view: DeviceView) -> Allocation | Refusal:
        """Place, and count it."""
        self.placements += 1
        return super().place_on(ask, view)

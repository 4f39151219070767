"""Class tables: verdicts kept per class, refreshed where nodes changed."""

import pytest
from msgspec import Struct
from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.table import EXACT, FITS
from springtide.engine.placement.tables import TABLES_MIN, Tables
from springtide.model.device import Device, DeviceView, Inventory, MigPlacement, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.builders import card, cards, mig_card, node, pod
from tests.estimates import FAMILIES, tables_of


def classified(of: Pod) -> PodClass:
    return Classifier(FAMILIES).classify(of)


def ledger_of(*nodes: tuple[Node, tuple[Device, ...]]) -> Ledger:
    ledger = Ledger()
    for each, devices in nodes:
        inventories = {"NVIDIA": Inventory("NVIDIA", devices)} if devices else {}
        ledger.add_node(each, inventories)
    return ledger


def refused(tables: Tables, pod_class: PodClass, row: int) -> Refusal:
    answer = tables.place(pod_class, row)
    assert isinstance(answer, Refusal)
    assert tables.refusal(pod_class, row) == answer
    return answer


# Candidates and placements


def test_candidates_are_the_rows_that_fit_in_order() -> None:
    tables = tables_of(ledger_of(*[(node(f"n{cpu}", cpu=cpu), ()) for cpu in (1, 4, 2)]))

    assert tables.candidates(classified(pod(cpu=2))).tolist() == [1, 2]


def test_a_placement_says_which_devices_a_pod_gets() -> None:
    tables = tables_of(ledger_of((node(), cards(2))))

    placement = tables.place(classified(pod(gpu=1, gpumem=5000)), 0)

    assert isinstance(placement, Placement)
    ((family, (share,)),) = placement.shares
    assert (family, share.memory_mib, share.slots) == ("NVIDIA", 5000, 1)
    assert placement.allocations[0].family == "NVIDIA"


def test_what_a_placed_pod_holds_fits_its_placement() -> None:
    ledger = ledger_of((node(), cards(1)))
    pod_class = classified(pod(cpu="500m", gpu=1, gpumem=5000, ports=[80]))
    placement = tables_of(ledger).place(pod_class, 0)
    assert isinstance(placement, Placement)

    held = holding("uid", pod_class, placement)

    assert (held.uid, held.row, held.shares) == ("uid", 0, placement.shares)
    assert dict(held.amounts)["pods"] == 1
    assert dict(held.amounts)["cpu"] == 500
    assert [port.port for port in held.ports] == [80]


def test_the_first_row_that_takes_the_pod_is_found() -> None:
    tables = tables_of(ledger_of((node("a", cpu=1), ()), (node("b"), ()), (node("c"), ())))
    pod_class = classified(pod(cpu=2))

    first = tables.first_fit(pod_class, [0, 2, 1])

    assert first is not None
    assert first.row == 2
    assert tables.first_fit(pod_class, [0]) is None


def test_equal_questions_about_devices_are_answered_once() -> None:
    tables = tables_of(ledger_of((node("a"), cards(1)), (node("b"), cards(1))))
    pod_class = classified(pod(gpu=1, gpumem=5000))

    one, other = tables.place(pod_class, 0), tables.place(pod_class, 1)

    assert isinstance(one, Placement)
    assert isinstance(other, Placement)
    assert one.allocations[0] is other.allocations[0]


# Refusals


def test_the_framework_refuses_first_with_all_its_reasons() -> None:
    tables = tables_of(ledger_of((node(cpu=1, memory="1Gi"), cards(1))))

    answer = refused(tables, classified(pod(cpu=2, memory="2Gi", gpu=1, gpumem=99999)), 0)

    assert answer == Refusal(
        rule="NodeResourcesFit",
        reasons=("Insufficient cpu", "Insufficient memory"),
        is_unresolvable=True,
    )


def test_an_untolerated_taint_is_the_frameworks_matter() -> None:
    tables = tables_of(ledger_of((node(taints=[Taint(key="gpu")]), cards(1))))

    answer = refused(tables, classified(pod(gpu=1)), 0)

    assert (answer.rule, answer.text) == ("TaintToleration", "node(s) had untolerated taint(s)")


def test_a_node_without_registration_is_told_so() -> None:
    tables = tables_of(ledger_of((node("plain"), ()), (node("gpu"), cards(1))))

    answer = refused(tables, classified(pod(gpu=1)), 0)

    assert (answer.rule, answer.text) == ("NVIDIA", "node unregistered")


def test_a_cluster_without_any_device_is_told_so() -> None:
    tables = tables_of(ledger_of((node("plain"), ())))

    assert refused(tables, classified(pod(gpu=1)), 0).text == "node unregistered"


def test_devices_that_are_too_small_are_counted() -> None:
    tables = tables_of(ledger_of((node(), cards(2, memory=1000))))

    answer = refused(tables, classified(pod(gpu=1, gpumem=5000)), 0)

    assert answer.text == "2/2 CardInsufficientMemory"


def test_a_closed_row_says_why() -> None:
    ledger = ledger_of((node(), cards(1)))
    ledger.close(0, "NVIDIA", "a", "allocation unreadable")
    ledger.close(0, "NVIDIA", "b", "allocation unreadable")
    tables = tables_of(ledger)

    answer = refused(tables, classified(pod(gpu=1)), 0)

    assert answer == Refusal(rule="NVIDIA", reasons=("allocation unreadable",))
    assert isinstance(tables.place(classified(pod()), 0), Placement)


def test_an_ask_that_makes_no_sense_is_refused_everywhere() -> None:
    tables = tables_of(ledger_of((node(), cards(1)), (node("plain"), ())))
    pod_class = classified(pod(gpu=1, others={"nvidia.com/gpumem": "500m"}))

    answers = {refused(tables, pod_class, row) for row in (0, 1)}

    assert answers == {pod_class.refusal}


def test_a_row_that_goes_to_another_node_is_judged_anew() -> None:
    ledger = ledger_of((node("a"), ()), (node("b", is_unschedulable=True), ()))
    tables = tables_of(ledger)
    pod_class = classified(pod())
    assert tables.candidates(pod_class).tolist() == [0]

    ledger.drop_last_node()
    ledger.add_node(node("c"))

    assert tables.candidates(pod_class).tolist() == [0, 1]


# Exactness


def full_mig(ledger: Ledger) -> None:
    """Leave slices free that no legal placement uses."""
    taken = tuple(MigPlacement(start, 1) for start in (0, 1, 2, 3, 4))
    share = Share(position=0, memory_mib=5 * 5120, occupied=taken)
    ledger.hold(Holding(uid="holder", row=0, shares=(("NVIDIA", (share,)),)))


def test_what_vectors_only_bound_is_decided_exactly_and_written_back() -> None:
    ledger = ledger_of((node(), (mig_card(),)))
    full_mig(ledger)
    tables = tables_of(ledger)
    pod_class = classified(pod(gpu=1, gpumem=10000))
    assert tables.candidates(pod_class).tolist() == [0]

    answer = refused(tables, pod_class, 0)

    assert answer.rule == "NVIDIA"
    assert tables.table(pod_class).code[0] == EXACT
    assert tables.candidates(pod_class).tolist() == []


def test_a_refusal_whose_reasons_vectors_do_not_know_is_told_exactly() -> None:
    apart = (card("GPU-0", numa=0, memory=1000), card("GPU-1", numa=1))
    ledger = ledger_of((node(), apart))
    tables = tables_of(ledger)
    bound = pod(gpu=2, gpumem=5000, annotations={"nvidia.com/numa-bind": "true"})
    pod_class = classified(bound)

    answer = refused(tables, pod_class, 0)

    assert answer == FAMILIES["NVIDIA"].place(pod_class.asks[0], view_of(ledger))
    assert tables.table(pod_class).exact == {0: answer}


def view_of(ledger: Ledger) -> DeviceView:
    view = ledger.view(0, "NVIDIA")
    assert view is not None
    return view


def test_an_exact_refusal_is_forgotten_when_its_row_changes() -> None:
    ledger = ledger_of((node(), (mig_card(),)))
    full_mig(ledger)
    tables = tables_of(ledger)
    pod_class = classified(pod(gpu=1, gpumem=10000))
    refused(tables, pod_class, 0)

    ledger.release("holder")

    assert tables.candidates(pod_class).tolist() == [0]
    assert isinstance(tables.place(pod_class, 0), Placement)
    assert tables.table(pod_class).exact == {}


# Staying up to date


def test_what_a_narrow_node_has_said_stands_when_a_wider_one_comes() -> None:
    ledger = ledger_of((node("narrow"), cards(1)))
    tables = tables_of(ledger)
    pod_class = classified(pod(gpu=1, gpumem=90000))
    before = refused(tables, pod_class, 0)

    ledger.add_node(node("wide"), {"NVIDIA": Inventory("NVIDIA", cards(4))})

    assert refused(tables, pod_class, 1).reasons == ("4/4 CardInsufficientMemory",)
    assert refused(tables, pod_class, 0) == before


def test_a_row_is_judged_again_after_a_pod_came_or_went() -> None:
    ledger = ledger_of((node(cpu=2), ()))
    tables = tables_of(ledger)
    pod_class = classified(pod(cpu=2))
    ledger.hold(Holding(uid="a", row=0, amounts=(("cpu", 1),)))
    full = tables.candidates(pod_class).tolist()

    ledger.release("a")

    assert (full, tables.candidates(pod_class).tolist()) == ([], [0])


def test_rows_beyond_the_first_sight_are_judged_too() -> None:
    ledger = ledger_of((node(), cards(1)))
    tables = tables_of(ledger)
    pod_class = classified(pod(gpu=1, gpumem=20000))
    assert len(tables.candidates(pod_class)) == 1

    for index in range(100):
        ledger.add_node(node(f"n{index}"), {"NVIDIA": Inventory("NVIDIA", cards(1 + index % 3))})

    assert len(tables.candidates(pod_class)) == 101


def test_a_row_that_was_taken_back_is_no_candidate() -> None:
    ledger = ledger_of((node("a"), ()))
    tables = tables_of(ledger)
    pod_class = classified(pod())
    ledger.add_node(node("b"))
    assert tables.candidates(pod_class).tolist() == [0, 1]

    ledger.drop_last_node()

    assert tables.candidates(pod_class).tolist() == [0]


def test_the_table_that_was_not_looked_at_longest_is_dropped() -> None:
    ledger = ledger_of((node(cpu=1), ()))
    tables = Tables(ledger, Framework(), FAMILIES, cells_max=1)
    classifier = Classifier(FAMILIES)
    first = classifier.classify(pod())
    table = tables.table(first)

    for cpu in range(1, TABLES_MIN + 1):
        tables.table(classifier.classify(pod(cpu=f"{cpu}m")))

    assert tables.table(first) is not table
    assert tables.table(first).code[0] == FITS


def test_a_node_without_cards_is_told_by_the_first_rule_that_refuses_it_later_too() -> None:
    ledger = ledger_of((node(pods=1), ()))
    tables, asked = tables_of(ledger), classified(pod(gpu=1))
    assert refused(tables, asked, 0).text == "node unregistered"

    ledger.hold(Holding(uid="other", row=0, amounts=(("pods", 1),)))

    assert refused(tables, asked, 0).text == "Too many pods"


# Histograms


def test_refusals_are_counted_by_reason_most_frequent_first() -> None:
    small, tainted = node("small", cpu=1), node("tainted", taints=[Taint(key="x")])
    tables = tables_of(ledger_of((tainted, ()), (small, ()), (small, ()), (node(), ())))

    found = tables.histogram(classified(pod(cpu=2)), below=4)

    assert [(refusal.text, count) for refusal, count in found] == [
        ("Insufficient cpu", 2),
        ("node(s) had untolerated taint(s)", 1),
    ]


def test_only_rows_below_a_limit_are_counted() -> None:
    small = node(cpu=1)
    tables = tables_of(ledger_of(*[(small, ())] * 5))

    ((_, count),) = tables.histogram(classified(pod(cpu=2)), below=3)

    assert count == 3


def test_refusals_of_devices_are_counted_by_what_they_say() -> None:
    one, two = cards(1, memory=1000), cards(2, memory=1000)
    half = (card(memory=1000), card("GPU-1", memory=1000, is_healthy=False))
    tables = tables_of(ledger_of(*[(node(), devices) for devices in (one, two, one, half)]))

    found = tables.histogram(classified(pod(gpu=1, gpumem=5000)), below=4)

    assert sorted((refusal.text, count) for refusal, count in found) == [
        ("1/1 CardInsufficientMemory", 2),
        ("1/2 CardInsufficientMemory, 1/2 CardNotHealth", 1),
        ("2/2 CardInsufficientMemory", 1),
    ]


class OtherAsk(Struct, frozen=True):
    """An ask of a family that no node has registered."""

    family: str = "Other"
    names_devices: bool = False


def test_refusals_of_two_families_are_told_apart() -> None:
    tables = tables_of(ledger_of((node(), ()), (node(), cards(1)), (node(), cards(1))))
    asked = classified(pod(gpu=1, gpumem=5000))

    found = tables.histogram(replace(asked, asks=(*asked.asks, OtherAsk())), below=3)

    assert [(refusal.rule, refusal.text, count) for refusal, count in found] == [
        ("Other", "node unregistered", 2),
        ("NVIDIA", "node unregistered", 1),
    ]


def test_rows_that_are_closed_for_different_reasons_are_told_apart() -> None:
    ledger = ledger_of(*[(node(), cards(1))] * 3)
    for row, why in enumerate(("unreadable", "odd", "unreadable")):
        ledger.close(row, "NVIDIA", "uid", why)

    found = tables_of(ledger).histogram(classified(pod(gpu=1, gpumem=5000)), below=3)

    assert [(refusal.text, count) for refusal, count in found] == [("unreadable", 2), ("odd", 1)]


def test_where_no_row_is_looked_at_none_refuses() -> None:
    tables = tables_of(ledger_of((node(cpu=1), ())))

    assert tables.histogram(classified(pod(cpu=2)), below=0) == []


# Classes


def test_equal_pods_get_the_identical_class() -> None:
    classifier = Classifier(FAMILIES)

    assert classifier.classify(pod("a", cpu=1)) is classifier.classify(pod("b", cpu=1))
    assert classifier.classify(pod("a", cpu=1)) is not classifier.classify(pod("a", cpu=2))


@pytest.mark.parametrize(
    ("annotations", "is_same"),
    [({"team": "a"}, True), ({"nvidia.com/use-gputype": "A10"}, False)],
)
def test_annotations_count_only_if_a_family_reads_them(
    annotations: dict[str, str], *, is_same: bool
) -> None:
    classifier = Classifier(FAMILIES)

    plain = classifier.classify(pod(gpu=1))
    noted = classifier.classify(pod(gpu=1, annotations=annotations))

    assert (plain is noted) is is_same


def test_pods_that_name_devices_say_so() -> None:
    by_id = pod(gpu=1, annotations={"nvidia.com/use-gpuuuid": "GPU-0"})

    assert classified(by_id).names_devices
    assert not classified(pod(gpu=1)).names_devices


def test_a_pod_bound_to_a_node_has_a_class_of_its_own() -> None:
    bound = replace(pod(), node_name="n")

    assert classified(bound) != classified(pod())


def test_a_table_that_has_not_read_what_the_log_forgot_judges_all_rows_anew() -> None:
    ledger = ledger_of((node("a"), cards(1)), (node("b"), cards(1)))
    tables = tables_of(ledger)
    asked = classified(pod(gpu=1, gpumem=20000))
    both = tables.candidates(asked).tolist()
    ledger.hold(
        Holding(uid="x", row=0, shares=(("NVIDIA", (Share(position=0, memory_mib=9999),)),))
    )

    ledger.changes.forget(ledger.changes.position)

    assert both == [0, 1]
    assert tables.candidates(asked).tolist() == [1]


def test_a_row_that_became_another_node_is_judged_as_that_one() -> None:
    ledger = ledger_of((node("a"), cards(1)), (node("b"), cards(1)))
    tables = tables_of(ledger)
    asked = classified(pod(gpu=2, gpumem=20000))
    none = tables.candidates(asked).tolist()

    ledger.renew_node(0, node("c"), {"NVIDIA": Inventory("NVIDIA", cards(2))})
    larger = tables.candidates(asked).tolist()
    ledger.vacate(0)

    assert (none, larger) == ([], [0])
    assert tables.candidates(asked).tolist() == []

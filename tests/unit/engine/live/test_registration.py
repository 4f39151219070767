"""Which devices nodes have: registrations that come, break and vanish, and plugins that fall silent."""

import pytest
from msgspec.structs import replace

from springtide.base.quantity import parse
from springtide.engine.live import LiveSettings, PatchNode
from springtide.engine.live.health import Judged, Seen, judged
from springtide.engine.placement.family import Registration
from springtide.model.node import Node
from tests.builders import card, cards, pod
from tests.living import NOW_S, Cluster, gpu_node, stored

HANDSHAKE, REGISTER = "hami.io/node-handshake", "hami.io/node-nvidia-register"
NVIDIA = Registration(
    word="NVIDIA", annotations=("register",), handshake="shake", count="gpu", is_counted=True
)
GENERIC = Registration(word="DCU", annotations=("register",), handshake="shake", count="dcu")
FRESH, OLD = "Requesting_2026-01-01 00:04:30", "Requesting_2025-12-31 00:00:00"
FAR = "Requesting_2128-12-02 00:00:00"
NPUS = '[{"id":"NPU-0","count":4,"devmem":32768,"devcore":30,"type":"Ascend910A","health":true}]'


def verdict(
    kind: Registration, shake: str | None, *, count: int, text: str = "x", seen: Seen | None = None
) -> Judged:
    notes = {"register": text} | ({} if shake is None else {"shake": shake})
    amounts = ((kind.count, parse(str(count))),) if count else ()
    node = Node(name="n", annotations=notes, allocatable=amounts)
    return judged(kind, node, seen or Seen(), now_s=NOW_S, timeout_s=60)


@pytest.mark.parametrize(
    ("shake", "count", "is_in", "asks"),
    [
        pytest.param(FAR, 0, False, False, id="requested in the future"),
        pytest.param("Requesting", 0, False, False, id="requested without a time"),
        pytest.param("Requesting_not-a-timestamp", 0, False, False, id="not a time"),
        pytest.param(OLD, 0, False, False, id="nobody answered"),
        pytest.param(OLD, 8, False, False, id="nobody answered, but the kubelet counts"),
        pytest.param(None, 0, True, True, id="never asked"),
        pytest.param("Reported_2026", 0, True, True, id="reported"),
        pytest.param("Unknown", 8, True, True, id="unknown"),
        pytest.param("Deleted", 0, True, True, id="deleted without a time"),
    ],
)
def test_a_generic_plugin_is_there_once_it_has_said_something(
    shake: str | None, count: int, *, is_in: bool, asks: bool
) -> None:
    found = verdict(GENERIC, shake, count=count)

    assert (found.seen.is_in, found.asks) == (is_in, asks)


@pytest.mark.parametrize(
    ("shake", "count", "is_in"),
    [(FAR, 0, True), (FRESH, 0, True), (OLD, 0, False), (OLD, 8, True), ("Requesting_", 0, True)],
)
def test_a_generic_plugin_that_was_there_stays_unless_nobody_answers_and_nothing_is_counted(
    shake: str, count: int, *, is_in: bool
) -> None:
    found = verdict(GENERIC, shake, count=count, seen=Seen(is_in=True))

    assert found.seen.is_in is is_in


@pytest.mark.parametrize(
    ("before", "count", "text", "shake", "is_in"),
    [
        pytest.param(0, 0, "x", None, True, id="0 to 0, never asked"),
        pytest.param(2, 0, "x", FRESH, False, id="2 to 0"),
        pytest.param(0, 2, "x", OLD, True, id="0 to 2"),
        pytest.param(2, 2, "y", OLD, True, id="2 to 2, registered anew"),
        pytest.param(2, 2, "x", FRESH, True, id="2 to 2"),
        pytest.param(2, 3, "x", OLD, True, id="2 to 3"),
    ],
)
def test_cards_are_there_as_long_as_the_kubelet_counts_them(
    before: int, count: int, text: str, shake: str | None, *, is_in: bool
) -> None:
    seen = Seen(count=before, registered="x" if before else None, is_in=before > 0)

    found = verdict(NVIDIA, shake, count=count, text=text, seen=seen)

    assert found.seen.is_in is is_in


def test_cards_that_vanished_stay_away_until_they_are_counted_or_registered_anew() -> None:
    gone = verdict(NVIDIA, OLD, count=0, seen=Seen(count=2, registered="x", is_in=True)).seen

    still = verdict(NVIDIA, None, count=0, seen=gone)
    counted = verdict(NVIDIA, None, count=1, seen=gone)
    anew = verdict(NVIDIA, None, count=0, text="y", seen=gone)

    assert (still.seen.is_in, still.asks) == (False, False)
    assert counted.seen.is_in
    assert anew.seen.is_in


def test_a_node_is_asked_once_and_falls_out_when_nobody_answers_for_a_minute() -> None:
    cluster = Cluster(LiveSettings(utc_offset_s=8 * 3600))

    cluster.add(gpu_node("n1", card("GPU-a"), count=0))
    at_first = cluster.filter(stored(pod("p", gpu=1)))
    cluster.wait(61)
    later = cluster.filter(stored(pod("q", gpu=1)))

    asked = PatchNode(name="n1", annotations={HANDSHAKE: "Requesting_2026-01-01 08:05:00"})
    assert cluster.patches("n1") == [asked]
    assert at_first.node == "n1"
    assert later.refusals == {"n1": "node unregistered"}
    assert cluster.rebuilt().ledger.rows == {}


def test_a_node_whose_cards_are_back_is_asked_so_that_refused_pods_are_tried_again() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("a")))
    cluster.annotate("n1", {HANDSHAKE: OLD})
    asked = len(cluster.patches("n1"))
    registered = cluster.nodes["n1"]

    cluster.add(replace(registered, allocatable=()))
    gone = len(cluster.patches("n1"))
    cluster.add(registered)

    assert (asked, gone) == (1, 1)
    assert cluster.patches("n1")[-1].annotations == {HANDSHAKE: "Requesting_2026-01-01 00:05:00"}
    assert len(cluster.patches("n1")) == gone + 1


def test_a_process_that_starts_does_not_ask_nodes_that_were_asked_before() -> None:
    cluster = Cluster()

    cluster.add(gpu_node("n1", card("a"), notes={HANDSHAKE: OLD}))

    assert cluster.patches("n1") == []


def test_a_process_that_does_not_lead_asks_for_nothing_until_it_does() -> None:
    cluster = Cluster()
    cluster.live.is_leading = False
    cluster.add(gpu_node("n1", card("GPU-a")))
    quiet = cluster.patches("n1")

    cluster.now_s += 60
    cluster.perform(cluster.live.lead(is_leading=True, now_s=cluster.now_s))

    assert quiet == []
    assert len(cluster.patches("n1")) == 1


def test_nodes_without_a_registration_are_not_asked() -> None:
    cluster = Cluster()

    cluster.add(gpu_node("n1"), gpu_node("n2", card("GPU-a")))

    assert cluster.patches("n1") == []
    assert [patch.annotations.keys() for patch in cluster.patches("n2")] == [{HANDSHAKE}]


def test_fc_024_a_node_that_was_marked_as_deleted_comes_back_by_itself() -> None:
    cluster = Cluster()

    for mark in ("Deleted_2026-01-01 00:00:00", "Deleted"):
        cluster.add(gpu_node("n1", card("GPU-a"), notes={HANDSHAKE: mark}))
        answer = cluster.filter(stored(pod(mark.lower(), gpu=1, gpumem=1000)))

        assert answer.node == "n1"


def test_t76_a_node_that_is_not_known_is_unregistered() -> None:
    cluster = Cluster()

    answer = cluster.filter(stored(pod("p", gpu=1)), ["nowhere"])

    assert answer.refusals == {"nowhere": "node unregistered"}


def test_t80_a_registration_that_breaks_leaves_what_was_there_until_the_node_fails() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))

    cluster.annotate("n1", {"hami.io/node-nvidia-register": "no json"})
    broken = cluster.filter(stored(pod("p", gpu=1, gpumem=100)))
    missing = gpu_node("n1", count=10)
    cluster.add(missing)
    absent = cluster.filter(stored(pod("q", gpu=1, gpumem=100)))
    cluster.add(gpu_node("n1", count=0))
    failed = cluster.filter(stored(pod("r", gpu=1, gpumem=100)))

    assert (broken.node, absent.node) == ("n1", "n1")
    assert failed.refusals == {"n1": "node unregistered"}


def test_a_node_that_never_registered_readably_says_so() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a"), notes={"hami.io/node-nvidia-score": "[null]"}))

    answer = cluster.filter(stored(pod("p", gpu=1)))
    cluster.annotate("n1", {"hami.io/node-nvidia-score": None})
    mended = cluster.filter(stored(pod("p", gpu=1)))

    assert answer.refusals["n1"].startswith("device registration malformed: ")
    assert mended.node == "n1"


def test_t79_a_kind_that_was_never_there_is_not_cleaned_up() -> None:
    cluster = Cluster()

    cluster.add(gpu_node("n1", card("GPU-a"), count=0, notes={HANDSHAKE: OLD}))

    assert cluster.patches("n1") == []
    assert cluster.live.ledger.count == 0


def test_t81_a_registration_of_nothing_takes_away_what_was_there() -> None:
    cluster = Cluster()
    chips, handshake = "hami.io/node-register-Ascend910A", "hami.io/node-handshake-Ascend910A"
    notes = {chips: NPUS, handshake: "Reported_2026"}
    cluster.add(gpu_node("n1", card("GPU-a"), notes=notes))
    npu = stored(pod("q", others={"huawei.com/Ascend910A": 1}))
    before = cluster.filter(npu)

    cluster.annotate("n1", {chips: "[]"})
    after = cluster.filter(npu)
    gpu = cluster.filter(stored(pod("p", gpu=1, gpumem=100)))

    assert before.node == "n1"
    assert after.refusals == {"n1": "node unregistered"}
    assert gpu.node == "n1"


def test_t81_counted_cards_stay_until_the_kubelet_counts_none() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))

    cluster.annotate("n1", {REGISTER: "[]"})
    kept = cluster.filter(stored(pod("p", gpu=1, gpumem=100)))
    cluster.add(gpu_node("n1", count=0, notes={REGISTER: "[]"}))
    gone = cluster.filter(stored(pod("q", gpu=1, gpumem=100)))

    assert kept.node == "n1"
    assert gone.refusals == {"n1": "node unregistered"}


def test_chips_stay_out_after_a_restart_until_their_plugin_reports() -> None:
    cluster = Cluster()
    notes = {
        "hami.io/node-register-Ascend910A": NPUS,
        "hami.io/node-handshake-Ascend910A": FRESH,
    }
    cluster.add(gpu_node("n1", notes=notes))
    npu = stored(pod("p", others={"huawei.com/Ascend910A": 1}))

    before = cluster.filter(npu)
    cluster.annotate("n1", {"hami.io/node-handshake-Ascend910A": "Reported_2026"})
    after = cluster.filter(npu)

    assert before.refusals == {"n1": "node unregistered"}
    assert after.node == "n1"


def test_nodes_that_the_selector_does_not_name_have_no_devices() -> None:
    cluster = Cluster(LiveSettings(node_selector={"gpu": "on"}))
    cluster.add(gpu_node("n1", card("GPU-a")))

    answer = cluster.filter(stored(pod("p", gpu=1)))

    assert answer.refusals == {"n1": "node unregistered"}


def test_a_row_that_a_node_has_left_is_given_to_the_next_one() -> None:
    cluster = Cluster()
    cluster.add(*(gpu_node(name, card(f"GPU-{name}")) for name in ("n1", "n2")))
    cluster.filter(stored(pod("p", gpu=1)), ["n1"])
    cluster.remove_node("n1")

    cluster.add(gpu_node("n3", *cards(2)))
    answer = cluster.filter(stored(pod("q", gpu=2)))

    assert cluster.live.ledger.rows == {"n2": 1, "n3": 0}
    assert answer.node == "n3"
    cluster.live.ledger.check()


def test_a_card_that_is_cordoned_takes_no_further_pods() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))

    cluster.annotate("n1", {"hami.io/device-cordon": "GPU-a"})
    answer = cluster.filter(stored(pod("p", gpu=1)))

    assert answer.refusals == {"n1": "1/1 CardCordoned"}

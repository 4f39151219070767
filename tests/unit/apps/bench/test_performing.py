"""One run, from the bytes of its files to its report."""

import pickle

import pytest

from springtide.apps.bench.jobs import Order
from springtide.apps.bench.performing import made, perform, read
from springtide.apps.bench.policies import POLICIES
from springtide.cli import bench_words
from springtide.engine.trace import UnusableTrace
from springtide.wire.errors import DocumentFault
from springtide.wire.source import Source
from tests.benches import job, recording


def test_a_run_accounts_for_every_pod() -> None:
    report = perform(job()).report

    assert report.placed + report.failed == report.pods
    assert sum(report.failed_by_class.values()) == report.failed
    assert report.gpus == 13
    assert report.nodes == 5


def test_what_is_idle_is_what_its_labels_say() -> None:
    report = perform(job()).report

    idle_milli = 13_000 * (1 - report.gpu_pct / 100)
    assert sum(report.frag_labels.values()) == pytest.approx(idle_milli)
    assert report.frag_milli == pytest.approx(idle_milli - report.frag_labels["q3"])
    assert report.frag_pct_of_idle == pytest.approx(100 * report.frag_milli / idle_milli)


def test_times_are_those_of_this_run() -> None:
    report = perform(job()).report

    assert report.pods_per_s == pytest.approx(report.pods / report.schedule_s)
    assert 0 < report.decision_us.p50 <= report.decision_us.p99 <= report.decision_us.max
    assert report.decision_us.max <= 1e6 * report.schedule_s
    assert report.peak_rss_mib > 1


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_keeps_what_must_hold(policy: str) -> None:
    assert perform(job(policy)).violation is None


def test_people_can_type_every_policy() -> None:
    assert tuple(POLICIES) == bench_words.POLICIES


def test_the_same_seed_places_the_same() -> None:
    one, two = perform(job("random")), perform(job("random", repeat=3))

    assert one.cells == two.cells


def test_another_seed_orders_otherwise() -> None:
    one, two = perform(job()), perform(job(order=Order(seed=2, tune=1.3)))

    assert one.cells != two.cells


def test_jobs_and_answers_travel_between_processes() -> None:
    asked = job()
    answer = perform(pickle.loads(pickle.dumps(asked)))

    arrived = pickle.loads(pickle.dumps(answer))

    assert arrived.report == answer.report
    assert arrived.cells == answer.cells
    assert arrived.curve.alloc_pct.tolist() == pytest.approx(
        answer.curve.alloc_pct.tolist(), nan_ok=True
    )


def test_a_curve_has_values_as_far_as_pods_come() -> None:
    curve = perform(job()).curve

    at_50 = curve.alloc_at(50)
    assert at_50 is not None
    assert 45 < at_50 < 55
    assert curve.alloc_at(1000) is None


def test_a_list_of_which_nothing_is_left_still_has_a_report() -> None:
    report = perform(job(order=Order(seed=1, tune=1e-9))).report

    assert (report.pods, report.placed, report.pods_per_s) == (report.failed, 0, 0.0)
    assert report.gpu_pct == 0.0


def test_a_recorded_order_is_taken_as_it_is() -> None:
    order = Order(
        recording=recording(
            "seq,pod,clone\n0,chat-0,0\n1,chat-0,1\n",
            "rank,sn\n0,serve-3\n1,serve-2\n2,serve-1\n3,train-2\n4,train-1\n",
        )
    )

    answer = perform(job("first-fit", order=order))

    assert answer.cells == ("serve-3:0", "serve-3:0")
    assert (answer.report.replay, answer.report.seed, answer.report.tune) == ("own_t13", None, None)


def test_a_recording_of_other_nodes_is_refused() -> None:
    order = Order(recording=recording("seq,pod,clone\n0,chat-0,0\n", "rank,sn\n0,other\n"))

    with pytest.raises(UnusableTrace, match="give the list of nodes of the recording"):
        perform(job(order=order))


def test_what_cannot_be_read_names_file_and_line() -> None:
    broken = Source("mine.csv", b"sn,cpu_milli,memory_mib,gpu,model\na,many,1,1,T4\n")

    with pytest.raises(DocumentFault, match=r"mine\.csv, line 2: cpu_milli"):
        made(Order(), *read(broken, job().pods))

"""The whole benchmark: which runs are made, in which order they are told, and what is checked."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
import pytest

from springtide.apps.bench.run import Outcome, TooMany, Trace, bar, run
from springtide.apps.planner.onlooker import Onlooker
from springtide.base.progress import Unwatched
from springtide.base.telling import Level
from springtide.edge.sweep import Here
from springtide.edge.sweep.port import AnswerT, JobT
from springtide.engine.trace import UnusableTrace
from springtide.wire.source import Source
from tests.benches import request


class Backwards:
    """A sweep that is ready with the last job first."""

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        for number in reversed(range(len(jobs))):
            yield number, perform(jobs[number])


class Idle:
    """A sweep that must not be asked."""

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        raise AssertionError(jobs)


class Listening(Unwatched):
    """Remembers what is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.facts: list[dict[str, str | float]] = []

    def begin(self, doing: str) -> None:
        self.begun.append(doing)

    def __call__(self, level: Level, event: str, **facts: str | float) -> None:
        self.facts.append(facts)

    def hears(self, level: Level) -> bool:
        return True


def told(outcome: Outcome) -> list[tuple[str, int | None]]:
    return [(each.policy, each.seed) for each in outcome.report.runs]


def test_every_policy_runs_in_every_order() -> None:
    outcome = run(request("fgd", "random"), Here())

    assert told(outcome) == [("fgd", 1), ("fgd", 2), ("random", 1), ("random", 2)]
    assert [each.runs for each in outcome.report.spreads] == [2, 2]


def test_answers_are_told_in_the_order_of_the_question() -> None:
    one, two = run(request("fgd", "random"), Here()), run(request("fgd", "random"), Backwards())

    assert told(one) == told(two)
    assert [each.cells for each in one.answers] == [each.cells for each in two.answers]


def test_whoever_looks_on_is_told_of_every_run() -> None:
    listening = Listening()

    run(request("fgd"), Here(), onlooker=Onlooker(listening, listening))

    assert listening.begun[0] == "Reading the traces"
    assert listening.begun[-1] == "Replaying [####################] 2 of 2 runs"
    assert [each["run"] for each in listening.facts] == ["fgd on own, seed 1", "fgd on own, seed 2"]


@pytest.mark.parametrize(
    ("done", "drawn"),
    [(0, "[....................] 0 of 90"), (89, "[###################.] 89 of 90")],
)
def test_a_bar_is_full_only_at_the_end(done: int, drawn: str) -> None:
    assert bar(done, 90) == f"Replaying {drawn} runs"


def test_what_is_wrong_with_a_trace_is_told_before_anybody_works() -> None:
    asked = request("fgd")
    pods = Source("cpu.csv", b"name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1,0,0\n")
    broken = msgspec.structs.replace(asked, traces=(*asked.traces, Trace(name="b", pods=pods)))

    with pytest.raises(UnusableTrace, match="No pod asks for a GPU"):
        run(broken, Idle())


def test_more_runs_than_a_sweep_may_have_are_refused() -> None:
    with pytest.raises(TooMany, match="Give fewer seeds"):
        run(request("fgd", "random", seeds=range(60_000)), Idle())


def test_the_invariants_of_an_own_trace_are_checked() -> None:
    report = run(request("fgd", "first-fit"), Here()).report

    assert [(each.name, each.state) for each in report.checks] == [
        ("invariants on own", "passed"),
        ("prod against first-fit on own", "skipped"),
    ]
    assert not report.fails
    assert report.summary.endswith("1 of 1 checks passed.")

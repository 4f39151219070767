"""What every sweep promises, and what those on processes and on a Dask cluster do when it breaks."""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from springtide.edge.sweep import (
    Dask,
    Died,
    Here,
    Processes,
    Sweep,
    Unreachable,
    Unsuitable,
)
from tests.sweeping import PATH, Sum, added, dask_cluster, fatal, free_port, place, refused

JOBS = [Sum(one=number, other=10 * number) for number in range(1, 6)]
PATIENCE_S = 20
# A shell starts background jobs deaf to interrupts, and this may run in one.
WAITING = """
import signal, sys
from springtide.edge.sweep import Processes
from tests.sweeping import Sum, endless
signal.signal(signal.SIGINT, signal.default_int_handler)
if __name__ == "__main__":
    list(Processes(1).each(endless, [Sum(mark=sys.argv[1])]))
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dask scheduler with one worker."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as address:
        yield address


@pytest.fixture(params=["here", "processes", "dask"])
def sweep(request: pytest.FixtureRequest) -> Sweep:
    match request.param:
        case "here":
            return Here()
        case "processes":
            return Processes(2)
        case _:
            return Dask(request.getfixturevalue("scheduler"), patience_s=PATIENCE_S)


def test_every_job_is_answered_under_its_number(sweep: Sweep) -> None:
    answers = dict(sweep.each(added, JOBS))

    assert answers == {number: 11 * (number + 1) for number in range(5)}


def test_no_jobs_have_no_answers(sweep: Sweep) -> None:
    assert list(sweep.each(added, [])) == []


def test_equal_jobs_are_done_as_often_as_they_are_there(sweep: Sweep) -> None:
    answers = list(sweep.each(added, [JOBS[0]] * 3))

    assert sorted(answers) == [(0, 11), (1, 11), (2, 11)]


def test_a_fault_of_the_job_arrives_as_it_is(sweep: Sweep) -> None:
    with pytest.raises(ValueError, match=r"1 \+ 10"):
        list(sweep.each(refused, JOBS[:1]))


def test_processes_share_the_jobs_among_them() -> None:
    places = {pid for _, pid in Processes(2).each(place, JOBS)}

    assert 1 <= len(places) <= 2
    assert os.getpid() not in places


def test_a_process_that_dies_names_its_job() -> None:
    jobs = [Sum(one=1), Sum(other=7)]

    with pytest.raises(Died) as raised:
        list(Processes(1).each(fatal, jobs))

    assert raised.value.job == "0 + 7"
    assert "Use fewer --workers" in str(raised.value)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_whoever_waits_for_it(ending: signal.Signals, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with (
        subprocess.Popen(
            [sys.executable, "-c", WAITING, str(pipe)],
            env={**os.environ, "PYTHONPATH": PATH},
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as waiting,
        pipe.open() as worker,
    ):
        begun = worker.readline()
        # As a terminal does: everybody hears of it.
        os.killpg(waiting.pid, ending) if ending == signal.SIGINT else waiting.send_signal(ending)
        rest = worker.read()
        _, said = waiting.communicate()

    assert (begun, rest) == ("begun\n", "")
    assert said.count(b"Traceback") == (1 if ending == signal.SIGINT else 0)


def test_a_scheduler_that_does_not_answer_is_unreachable() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"

    with pytest.raises(Unreachable, match=r"does not answer\. Start it"):
        list(Dask(address, patience_s=0.5).each(added, JOBS))


@pytest.mark.parametrize("address", ["nonsense", "tcp://a", "tcp://a:b", "nowhere://a:1"])
def test_an_address_that_makes_no_sense_is_told(address: str) -> None:
    with pytest.raises(Unsuitable, match=r"Write it like tcp://host:8786"):
        list(Dask(address, patience_s=0.5).each(added, JOBS))


def test_the_missing_package_is_told_with_what_to_do() -> None:
    # A name that is None in the table of modules cannot be imported.
    program = (
        "import sys\n"
        "sys.modules['distributed'] = None\n"
        "from springtide.edge.sweep import Dask, Missing\n"
        "try:\n"
        "    list(Dask('tcp://127.0.0.1:1').each(len, []))\n"
        "except Missing as fault:\n"
        "    print(fault)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "pip install 'springtide[dask]'" in done.stdout


def test_a_cluster_without_the_code_is_told_to_have_it_installed(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("def length(job):\n    return len(job.name)\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("only_here")

    with pytest.raises(Unsuitable, match=r"1 \+ 10: the Dask cluster cannot do it: .*Install"):
        list(Dask(scheduler, patience_s=PATIENCE_S).each(module.length, JOBS[:1]))

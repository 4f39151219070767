"""What a stand-in kubelet decides, one event after the other."""

from collections.abc import Mapping

import msgspec

from tests.standin.conduct import ALLOCATES, EXIT_CODE, RUN_S, WELL, Conduct, Plugin, of_pod
from tests.standin.kubelet import (
    NOT_ADMITTED,
    Allocate,
    Answered,
    Command,
    Event,
    Kubelet,
    Ordered,
    Remove,
    Report,
    Seen,
    Vanished,
    WakeAt,
    Woken,
    step,
)
from tests.standin.seen import Pod

SILENT = Ordered(Conduct(is_silent=True))


def pod(
    name: str,
    annotations: Mapping[str, str] | None = None,
    *,
    phase: str = "Pending",
    going: bool = False,
) -> Pod:
    metadata: dict[str, object] = {"name": name, "namespace": "t", "uid": name}
    metadata["annotations"] = dict(annotations or {})
    if going:
        metadata["deletionTimestamp"] = "2026-11-30T20:00:00Z"
    value = {"metadata": metadata, "status": {"phase": phase}}
    return msgspec.convert(value, Pod)


def played(*events: Event, conduct: Conduct = WELL, now_s: float = 0.0) -> tuple[Command, ...]:
    """Play events at one time, and return what is to be done after the last."""
    kubelet = Kubelet(node="n", conduct=conduct)
    commands: tuple[Command, ...] = ()
    for event in events:
        kubelet, commands = step(kubelet, event, now_s=now_s)
    return commands


def test_a_pod_is_admitted_first() -> None:
    assert played(Seen(pod("a"))) == (Allocate(pod("a")),)


def test_a_pod_that_was_admitted_runs() -> None:
    commands = played(Seen(pod("a")), Answered("a"))

    assert commands == (Report(pod=pod("a"), phase="Running"),)


def test_pods_are_admitted_one_at_a_time() -> None:
    behind = played(Seen(pod("a")), Seen(pod("b")))
    after = played(Seen(pod("a")), Seen(pod("b")), Answered("a"))

    assert behind == ()
    assert Allocate(pod("b")) in after


def test_a_pod_that_vanishes_makes_room_for_the_next() -> None:
    commands = played(Seen(pod("a")), Seen(pod("b")), Vanished("a"))

    assert commands == (Allocate(pod("b")),)


def test_a_pod_without_its_devices_fails_and_stays_so() -> None:
    first = played(Seen(pod("a")), Answered("a", "none left"))
    again = played(Seen(pod("a")), Answered("a", "none left"), Seen(pod("a")), Answered("a"))

    (report,) = first
    assert isinstance(report, Report)
    assert (report.phase, report.reason, report.why) == ("Failed", NOT_ADMITTED, "none left")
    assert again == ()


def test_starting_takes_as_long_as_it_is_told_to() -> None:
    kubelet, _ = step(Kubelet(node="n", conduct=Conduct(start_s=3)), Seen(pod("a")), now_s=0)

    kubelet, starting = step(kubelet, Answered("a"), now_s=1)
    kubelet, early = step(kubelet, Woken(), now_s=3.9)
    _, late = step(kubelet, Woken(), now_s=4)

    assert starting == early == (WakeAt(4),)
    assert late == (Report(pod=pod("a"), phase="Running"),)


def test_a_pod_says_itself_how_it_ends() -> None:
    asked = pod("a", {RUN_S: "5", EXIT_CODE: "3"})
    kubelet, _ = step(Kubelet(node="n"), Seen(asked), now_s=0)
    kubelet, running = step(kubelet, Answered("a"), now_s=0)

    kubelet, ended = step(kubelet, Woken(), now_s=5)
    _, after = step(kubelet, Woken(), now_s=50)

    assert running[-1] == WakeAt(5)
    assert ended == (Report(pod=asked, phase="Failed", exit_code=3),)
    assert after == ()


def test_a_deleted_pod_is_stopped_and_let_go_once() -> None:
    going, conduct = pod("a", going=True), Conduct(stop_s=2)
    kubelet, _ = step(Kubelet(node="n", conduct=conduct), Seen(pod("a", phase="Running")), now_s=0)

    kubelet, stopping = step(kubelet, Seen(going), now_s=1)
    kubelet, gone = step(kubelet, Woken(), now_s=3)
    _, after = step(kubelet, Seen(going), now_s=4)

    assert stopping == (WakeAt(3),)
    assert gone[0] == Remove(going)
    assert Remove(going) not in after


def test_a_pod_that_waits_for_devices_can_be_deleted() -> None:
    commands = played(Seen(pod("a")), Seen(pod("b")), Seen(pod("b", going=True)))

    assert Remove(pod("b", going=True)) in commands


def test_a_silent_node_does_nothing_and_catches_up() -> None:
    silent = played(SILENT, Seen(pod("a")), Seen(pod("b", going=True)))
    after = played(SILENT, Seen(pod("a")), Seen(pod("b", going=True)), Ordered(WELL))

    assert silent == ()
    assert Allocate(pod("a")) in after
    assert Remove(pod("b", going=True)) in after


def test_an_answer_that_comes_while_the_node_is_silent_is_acted_on_later() -> None:
    commands = played(Seen(pod("a")), SILENT, Answered("a"), Ordered(WELL))

    assert commands == (Report(pod=pod("a"), phase="Running"),)


def test_a_failure_that_comes_while_the_node_is_silent_is_reported_later() -> None:
    commands = played(Seen(pod("a")), SILENT, Answered("a", "none left"), Ordered(WELL))

    assert [each.phase for each in commands if isinstance(each, Report)] == ["Failed"]


def test_a_kubelet_that_starts_again_goes_on_with_what_ran() -> None:
    running = played(Seen(pod("a", {RUN_S: "7"}, phase="Running")))
    ended = played(Seen(pod("b", phase="Succeeded")))

    assert running == (WakeAt(7),)
    assert ended == ()


def test_a_pod_may_order_its_plugin() -> None:
    assert of_pod(WELL, {ALLOCATES: "silent"}).allocates is Plugin.SILENT

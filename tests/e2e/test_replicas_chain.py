"""The whole chain with real members: their load rises and falls, and native autoscalers follow them to the pod."""

import time
from collections.abc import Iterator
from typing import Final

import msgspec
import pytest

from tests.e2e.autoscaling import E, S, value
from tests.e2e.chains import Chain, chained
from tests.e2e.companies import Company, stays
from tests.e2e.conftest import Planes
from tests.e2e.waiting import eventually, steadily
from tests.guarding import MARK

OUTAGE_S: Final = 33.0
FORCED: Final = -9
BY_HAND: Final = "chat-1"
"""The only pod that somebody deletes while it serves."""

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def chain(planes: Planes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """The chain for two StatefulSets."""
    folder = tmp_path_factory.mktemp("chain")
    with chained(planes, folder, chat={}, fifth={"start": 5}) as found:
        yield found


@pytest.fixture(scope="module")
def chat(chain: Chain) -> Iterator[Company]:
    """A StatefulSet of two members, which later tests go on with."""
    found = chain.companies["chat"]
    found.load = 150
    found.begins(2, "--allow-scale-down")
    yield found
    serving = {each.pod for each in chain.watch.deletions("chat-") if each.ready == "1"}
    found.ends()
    assert serving <= {BY_HAND}, "a controller has deleted who served"


class Stage(msgspec.Struct, frozen=True):
    """What can be seen at one moment of a shrinking: labels, both metrics, and the replicas that are set."""

    labels: tuple[str, ...]
    expected: str
    floor: str
    replicas: int


def filmed(company: Company, pods: tuple[str, ...], *, until: int) -> list[Stage]:
    """Return the stages of a shrinking to so many, each once."""
    film: list[Stage] = []

    def look() -> int:
        wanted, _, _ = company.replicas()
        labels = company.labelled()
        plane = company.grounds.plane
        stage = Stage(
            tuple(labels.get(each, "") for each in pods),
            value(plane, E, company.name),
            value(plane, S, company.name),
            wanted,
        )
        if not film or film[-1] != stage:
            film.append(stage)
        return wanted

    eventually(look, lambda wanted: wanted == until)
    return film


def test_k_1_members_that_hold_state_outlive_a_smaller_number(chain: Chain, chat: Company) -> None:
    """Covers R-3, R-36, R-39, R-44. The table of one shrinking, from 6 to 4, with members that are real."""
    chat.carries(6)
    chat.application("chat-4").lets_go = False
    since_s = time.monotonic()

    chat.load = 300
    film = filmed(chat, ("chat-4", "chat-5"), until=5)
    chat.settles(5)
    stays(chat, 5)
    one = [each.pod for each in chain.watch.deletions("chat-", since_s=since_s)]
    chat.application("chat-4").holds = False
    chat.settles(4)
    stays(chat, 4)

    assert one == ["chat-5"]
    gone = chain.watch.deletions("chat-", since_s=since_s)
    assert [(each.pod, each.short) for each in gone] == [
        ("chat-5", "T0R0 deleted"),
        ("chat-4", "T0R0 deleted"),
    ]
    # Target goes first, then who holds nothing serves no more, and only then is the smaller number shown.
    assert Stage(("T0R1", "T0R1"), "6", "6", 6) in film
    assert Stage(("T0R1", "T0R0"), "6", "5", 6) in film
    assert {each.expected for each in film} <= {"4", "6"}
    assert film[-1].floor == "5"
    assert (chain.kubelet.hooks["chat-5"][-1], chain.kubelet.codes["chat-5"][-1]) == (200, 0)


def test_a_member_that_is_deleted_by_hand_drains_and_moves_nobody_else(
    chain: Chain, chat: Company
) -> None:
    """Covers R-49 in part."""
    chat.carries(4)
    before, since_s = chat.leader()[1]["round"]["generation"], time.monotonic()
    application = chat.application(BY_HAND)

    chain.kubectl("delete", "pod", BY_HAND, "--wait=false")
    eventually(
        lambda: [each.short for each in chain.watch.told(BY_HAND, since_s=since_s)],
        lambda told: "T1R1" in told,
    )
    stays(chat, 4)

    assert (chain.kubelet.hooks[BY_HAND][-1], chain.kubelet.codes[BY_HAND][-1]) == (200, 0)
    assert not application.holds
    assert {each.pod for each in chain.watch.told("chat-", since_s=since_s)} == {BY_HAND}
    assert chat.leader()[1]["round"]["generation"] == before
    assert chat.labelled() == {f"chat-{each}": "T1R1" for each in range(4)}


def test_f_21_nobody_leaves_while_members_are_cut_off_and_all_is_compared_afterwards(
    chain: Chain, chat: Company
) -> None:
    """Covers R-50."""
    chat.carries(4)
    chain.cut(is_cut=True)
    chat.load = 220
    cut_off = steadily(
        lambda: [
            (said["isTarget"], said["isReady"]) for said in map(chat.status, chat.running) if said
        ],
        lambda found: found == [(True, True)] * 4,
        for_s=OUTAGE_S,
    )
    during = chat.replicas()
    chain.cut(is_cut=False)
    why = eventually(
        lambda: chat.leader()[1].get("why", ""), lambda said: "There was an outage" in said
    )
    chat.settles(3)

    assert len(cut_off) == 4
    assert during == (4, 4, 4)
    assert "The load needs 3, and 4 are expected." in why


def test_f_15_a_killed_member_keeps_its_place_until_it_drained_or_is_released(
    chain: Chain, chat: Company
) -> None:
    """Covers R-49 in part, R-58 in part."""
    chat.carries(3)
    codes = chain.kubelet.codes.setdefault("chat-2", [])
    before = len(codes)
    pod = chain.kubelet.pods["chat-2"]

    pod.kill()
    chat.load = 100
    stays(chat, 3, for_s=8)
    _, said = eventually(chat.leader, lambda found: bool(found[1].get("complaints")))
    told = said["complaints"]
    pod.restart()
    pod.application.lets_go = False
    eventually(lambda: chat.labelled()["chat-2"], lambda found: found == "T0R1")
    eventually(lambda: value(chain.plane, E, "chat"), lambda found: found == "2")
    # It is killed again as it hands over, and comes back with nothing.
    pod.kill()
    stays(chat, 3, for_s=6)
    pod.restart()
    eventually(lambda: chat.labelled()["chat-2"], lambda found: found == "T0R0")
    stays(chat, 3, for_s=6)
    floor = value(chain.plane, S, "chat")
    released = chat.command("release-protection", "3", "--operator=test")
    chat.settles(2)

    assert "Number 3 is gone and may hold state: chat-2 did not drain." in [
        each["message"] for each in told
    ]
    assert floor == "3"
    assert "test released number 3" in released
    assert codes[before:] == [FORCED, FORCED, 0]


def test_k_4_a_workload_that_counts_from_five_shrinks_once_that_is_allowed(chain: Chain) -> None:
    """Covers R-37, R-45."""
    fifth = chain.companies["fifth"]
    fifth.load = 250
    fifth.begins(3)
    chain.kubectl("annotate", "statefulset/fifth", f"{MARK}=true")
    numbers = {pod: fifth.status(pod)["index"] for pod in fifth.running}
    whole = eventually(lambda: value(chain.plane, S, "fifth"), lambda found: found == "3")

    fifth.load = 120
    eventually(
        lambda: [value(chain.plane, each, "fifth") for each in (E, S)],
        lambda found: found == ["2", "2"],
    )
    stays(fifth, 3)
    refused = chain.tries("scale", "statefulset/fifth", "--replicas=1", user="nobody")
    fifth.apply("--allow-scale-down")
    fifth.settles(2)
    stays(fifth, 2)

    assert numbers == {"fifth-5": 1, "fifth-6": 2, "fifth-7": 3}
    assert whole == "3"
    assert (
        "HoldsState: StatefulSet default/fifth cannot be scaled to 1: replica 2" in refused.stderr
    )
    gone = chain.watch.deletions("fifth-")
    assert [(each.pod, each.short) for each in gone] == [("fifth-7", "T0R0 deleted")]
    fifth.ends()

"""The guard over TLS: who may lower what, and what it knows that by."""

import ssl
from pathlib import Path

import pytest
from msgspec.structs import replace

from springtide.apps.guard import Deadlines
from springtide.wire.admission import Workload
from tests.adapting import Authority, S
from tests.guarding import GUARDED, MARK, guarding, workload
from tests.promapi import PromApi, Reply, prometheus
from tests.reviews import maximum, review, scaled
from tests.running import run, until

DOWN = Reply(status=503, body=b'{"status":"error","errorType":"unavailable","error":"down"}')


def members(api: PromApi, *indices: int, target: str = "chat") -> None:
    """Let members say which of them hold state."""
    for ordinal, index in enumerate(indices):
        api.put_member(S, index, member=f"{target}-{ordinal}", target=target)


def spoil(path: str) -> None:
    """Let a file be half written."""
    Path(path).write_text("no key", encoding="utf-8")


def test_whoever_takes_state_away_is_told_what_to_wait_for(tmp_path: Path) -> None:
    """Covers R-57 in part."""
    authority = Authority()
    workload(authority, "chat", replicas=3)

    async def work(api: PromApi) -> None:
        members(api, 1, 2, 0)
        async with guarding(tmp_path, authority, api) as guard:
            refused = await guard.review(scaled(3, 1))
            drained = await guard.review(scaled(3, 2))
            direct = await guard.reason(
                review(
                    "statefulsets",
                    name="chat",
                    old={"spec": {"replicas": 3}},
                    new={"spec": {"replicas": 0}},
                )
            )

            assert refused[0] is False
            assert refused[1].startswith(
                "HoldsState: StatefulSet game/chat cannot be scaled to 1: "
            )
            assert "Wait until it is drained" in refused[1]
            assert drained == (True, "")
            assert direct == "HoldsState"
            (line, _) = guard.log.of("lowering_refused")
            assert (line["user"], line["replicas"]) == ("somebody", 1)

    with prometheus() as api:
        run(work(api))


def test_who_is_exempt_may_and_that_is_told(tmp_path: Path) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=2)

    async def work(api: PromApi) -> None:
        members(api, 1, 2)
        async with guarding(tmp_path, authority, api) as guard:
            found = [
                await guard.reason(scaled(2, 1, user="operator")),
                await guard.reason(scaled(2, 1, groups=("system:masters",))),
                await guard.reason(
                    scaled(2, 1, user="system:serviceaccount:kube-system:horizontal-pod-autoscaler")
                ),
            ]

            assert found == ["", "", "HoldsState"]
            assert len(guard.log.of("lowering_let_pass")) == 2
            _, text = await guard.page("/metrics")
            assert 'springtide_guard_reviews_total{outcome="exempt"} 2.0' in text

    with prometheus() as api:
        run(work(api))


def test_h_12_a_maximum_that_would_cut_replicas_with_state_is_refused(tmp_path: Path) -> None:
    """Covers R-57 in part."""
    authority = Authority()
    workload(authority, "chat", replicas=3)

    async def work(api: PromApi) -> None:
        members(api, 1, 2, 3)
        async with guarding(tmp_path, authority, api) as guard:
            found = {
                "lowered": await guard.reason(maximum(2, before=40)),
                "enough": await guard.reason(maximum(3, before=40)),
                "raised": await guard.reason(maximum(2, before=1)),
                "new": await guard.reason(maximum(2)),
                "new and enough": await guard.reason(maximum(3)),
                "elsewhere": await guard.reason(maximum(2, kind="Rollout", version="a.io/v1")),
            }

            assert found == {
                "lowered": "HoldsState",
                "enough": "",
                "raised": "",
                "new": "HoldsState",
                "new and enough": "",
                "elsewhere": "",
            }

    with prometheus() as api:
        run(work(api))


def test_doubt_never_lowers_and_keeps_nobody_from_raising(tmp_path: Path) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=3)

    async def work(api: PromApi) -> None:
        async with guarding(tmp_path, authority, api) as guard:
            unheard = await guard.reason(scaled(3, 2))
            members(api, 1, 0)
            api.fails_with = DOWN
            down = await guard.review(scaled(3, 2))
            raised = await guard.reason(scaled(3, 4))
            emptied = await guard.reason(scaled(3, 0, user="operator"))

            assert (unheard, raised, emptied) == ("FloorUnknown", "", "")
            assert down[1].startswith("FloorUnknown: StatefulSet game/chat cannot be scaled to 2")

    with prometheus() as api:
        run(work(api))


@pytest.mark.parametrize(
    ("marks", "reason"),
    [
        ({"labels": {MARK: "true"}}, "HoldsState"),
        ({"annotations": {MARK: "true"}, "labels": {MARK: "false"}}, "HoldsState"),
        ({"annotations": {MARK: "false"}}, ""),
        ({"annotations": None}, ""),
        ({}, ""),
    ],
)
def test_workloads_are_guarded_that_say_so(
    marks: dict[str, object], reason: str, tmp_path: Path
) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=2, marks=marks)

    async def work(api: PromApi) -> None:
        members(api, 1, 2)
        async with guarding(tmp_path, authority, api) as guard:
            assert await guard.reason(scaled(2, 1)) == reason

    with prometheus() as api:
        run(work(api))


def test_workloads_are_guarded_that_are_listed_and_deployments_alike(tmp_path: Path) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=2, marks={})
    workload(authority, "web", replicas=2, resource="deployments")
    listed = frozenset({Workload(kind="StatefulSet", namespace="game", name="chat")})

    async def work(api: PromApi) -> None:
        members(api, 1, 2)
        members(api, 1, 2, target="web")
        async with guarding(
            tmp_path, authority, api, settings=replace(GUARDED, listed=listed)
        ) as guard:
            assert await guard.reason(scaled(2, 1)) == "HoldsState"
            assert await guard.reason(scaled(2, 1, name="web", resource="deployments"))
            assert await guard.reason(scaled(2, 1, name="other")) == ""

    with prometheus() as api:
        run(work(api))


def test_what_cannot_be_read_may_be_guarded(tmp_path: Path) -> None:
    authority = Authority()
    authority.is_down = True

    async def work(api: PromApi) -> None:
        async with guarding(tmp_path, authority, api) as guard:
            assert await guard.reason(scaled(2, 1)) == "WorkloadUnread"
            assert await guard.reason(maximum(2)) == "WorkloadUnread"
            assert await guard.reason(scaled(2, 3)) == ""
            assert guard.log.of("workload_unread")

    with prometheus() as api:
        run(work(api))


def test_whoever_does_not_answer_in_time_is_not_waited_for(tmp_path: Path) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=2)
    hasty = replace(GUARDED, deadlines=Deadlines(request_s=0.0, drain_s=1.0))

    async def work(api: PromApi) -> None:
        async with guarding(tmp_path, authority, api, settings=hasty) as guard:
            assert await guard.reason(scaled(2, 1)) in ("FloorUnknown", "WorkloadUnread")

    with prometheus() as api:
        run(work(api))


def test_what_is_no_review_is_refused_in_words(tmp_path: Path) -> None:
    async def work(api: PromApi) -> None:
        async with guarding(tmp_path, Authority(), api) as guard:
            is_allowed, message = await guard.review(b"{}")
            nonsense = await guard.review(maximum(3, target=""))

            assert not is_allowed
            assert message.startswith("This review cannot be understood: ")
            assert nonsense[0] is False

    with prometheus() as api:
        run(work(api))


def test_probes_need_neither_prometheus_nor_the_cluster(tmp_path: Path) -> None:
    authority = Authority()
    authority.is_down = True

    async def work(api: PromApi) -> None:
        api.fails_with = DOWN
        async with guarding(tmp_path, authority, api) as guard:
            for path in ("/healthz", "/livez", "/readyz"):
                assert await guard.page(path) == (200, "ok")

    with prometheus() as api:
        run(work(api))


def test_a_certificate_that_is_renewed_is_shown_without_a_restart(tmp_path: Path) -> None:
    authority = Authority()
    workload(authority, "chat", replicas=2, marks={})

    async def work(api: PromApi) -> None:
        async with guarding(tmp_path, authority, api) as guard:
            spoil(guard.pki.files.key)
            await until(lambda: bool(guard.log.of("certificate_unusable")))
            kept = await guard.reason(scaled(2, 1))
            other = type(guard.pki)(tmp_path, authority)
            await until(lambda: bool(guard.log.of("certificate_renewed")))

            with pytest.raises(ssl.SSLCertVerificationError):
                await guard.review(scaled(2, 1))
            guard.pki = other
            assert (kept, await guard.reason(scaled(2, 1))) == ("", "")

    with prometheus() as api:
        run(work(api))

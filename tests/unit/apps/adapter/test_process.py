"""The adapter over TLS: who is answered, what, and how often it asks others."""

import asyncio
import json
import ssl
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.apps.adapter.upstream import Other, Upstream
from springtide.edge.kube import Failing
from tests.adapting import EXPECTED, FRONT, HPA, ROOT, SERVED, Authority, E, S, adapting, value_path
from tests.loopback import call
from tests.promapi import PromApi, Reply, prometheus
from tests.running import run, until
from tests.serving import serving

READY: Final = {"type": "Ready", "status": "True"}
TARGET: Final = "labelSelector=hpa_target_name%3D"


def test_the_front_proxy_is_answered_for_whom_it_speaks(tmp_path: Path) -> None:
    """Covers M-15."""
    authority = Authority()

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        async with adapting(tmp_path, authority, api) as adapter:
            answer = await adapter.ask(value_path(E))

            (item,) = json.loads(answer.body)["items"]
            assert answer.status == 200
            assert item["value"] == "12"
            assert item["metricLabels"] == {"hpa_target_name": "chat"}
            (review,) = authority.of("subjectaccessreviews")
            assert review.body is not None
            assert review.body["spec"] == {
                "user": "hpa",
                "groups": ["system:authenticated"],
                "resourceAttributes": {
                    "verb": "get",
                    "group": "external.metrics.k8s.io",
                    "version": "v1beta1",
                    "resource": E,
                    "namespace": "game",
                },
            }

    with prometheus() as api:
        run(work(api))


def test_strangers_are_refused_and_those_who_may_not_are_told(tmp_path: Path) -> None:
    """Covers M-15."""
    authority = Authority()
    authority.tokens["good"] = "somebody"
    authority.denied.add("nobody")

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        async with adapting(tmp_path, authority, api) as adapter:
            pki, path = adapter.pki, value_path(E)
            none = await adapter.ask(path, tls=pki.stranger())
            wrong = await adapter.ask(path, tls=pki.front_proxy("someone-else"))
            nameless = await adapter.ask(path, by="")
            token = await adapter.ask(path, by="Authorization: Bearer good\r\n", tls=pki.stranger())
            bad = await adapter.ask(path, by="Authorization: Bearer bad\r\n", tls=pki.stranger())
            denied = await adapter.ask(path, by="X-Remote-User: nobody\r\n")

            assert [each.status for each in (none, wrong, nameless, token, bad, denied)] == [
                401, 401, 401, 200, 401, 403,
            ]  # fmt: skip
            assert json.loads(denied.body)["reason"] == "Forbidden"
            other = type(authority.front_ca)()
            with pytest.raises(
                (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError, IndexError)
            ):
                await adapter.ask(path, tls=pki.front_proxy(FRONT, other))

    with prometheus() as api:
        run(work(api))


def test_who_cannot_be_judged_is_not_let_in(tmp_path: Path) -> None:
    authority = Authority()

    async def work(api: PromApi) -> None:
        async with adapting(tmp_path, authority, api) as adapter:
            authority.is_down = True
            answer = await adapter.ask(value_path(E))
            master = await adapter.ask(
                ROOT, by="X-Remote-User: a\r\nX-Remote-Group: system:masters\r\n"
            )

            assert answer.status == 503
            assert json.loads(answer.body)["reason"] == "ServiceUnavailable"
            assert master.status == 200

    with prometheus() as api:
        run(work(api))


def test_a_front_proxy_that_cannot_be_looked_up_keeps_it_from_starting(tmp_path: Path) -> None:
    authority = Authority()
    authority.is_down = True

    async def work(api: PromApi) -> None:
        with pytest.raises(Failing):
            async with adapting(tmp_path, authority, api):
                pass

    with prometheus() as api:
        run(work(api))


def test_many_questions_are_one_query(tmp_path: Path) -> None:
    """Covers M-18."""
    authority = Authority()

    async def work(api: PromApi) -> None:
        for index in range(20):
            api.put_member(E, index + 1, member=f"w{index}-0", target=f"w{index}")
        async with adapting(tmp_path, authority, api) as adapter:
            values = await asyncio.gather(
                *(
                    adapter.value(E, query=f"labelSelector=hpa_target_name%3Dw{index % 20}")
                    for index in range(100)
                )
            )

            assert values == [str(index % 20 + 1) for index in range(100)]
            assert len([each for each in api.asked if each.startswith(E)]) == 1
            assert len(authority.of("subjectaccessreviews")) == 1

    with prometheus() as api:
        run(work(api))


def test_after_a_pause_one_workload_alone_is_asked_for_and_all_behind_it(tmp_path: Path) -> None:
    served = [replace(each, metric=replace(each.metric, refresh_s=0.05)) for each in SERVED]

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        async with adapting(tmp_path, Authority(), api, served=served) as adapter:
            first = await adapter.value(E)
            await asyncio.sleep(0.3)
            api.put_member(E, 13, member="chat-0")
            api.asked.clear()
            later = await adapter.value(E)
            await until(lambda: len(api.asked) > 1)

            assert (first, later) == ("12", "13")
            assert {'hpa_target_name="chat"' in each for each in api.asked} == {True, False}

    with prometheus() as api:
        run(work(api))


def test_where_all_are_too_much_each_is_still_answered(tmp_path: Path) -> None:
    class Slow(PromApi):
        """Gives up what is asked of all workloads."""

        def reply(self, form: Mapping[str, list[str]]) -> Reply:
            """Return an answer, or that there are too many samples."""
            if '!=""' in form["query"][0]:
                self.asked.append(form["query"][0])
                return Reply(
                    status=422, body=b'{"status":"error","errorType":"execution","error":"x"}'
                )
            return super().reply(form)

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        async with adapting(tmp_path, Authority(), api) as adapter:
            await until(lambda: adapter.log.of("query_failed"))
            answers = await asyncio.gather(*(adapter.value(E) for _ in range(40)))

            await asyncio.sleep(2.5)
            later = await adapter.value(E)
            whole = [each for each in api.asked if f'{E}{{k8s_namespace_name!=""' in each]

            assert (answers, later) == (["12"] * 40, "12")
            assert len(whole) <= 2, "what is too much twice is left alone for a while"

    with prometheus(Slow()) as api:
        run(work(api))


def test_who_asks_the_same_after_a_pause_shares_one_query(tmp_path: Path) -> None:
    """Covers M-18 in part."""
    served = [replace(each, metric=replace(each.metric, refresh_s=0.05)) for each in SERVED]

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        async with adapting(tmp_path, Authority(), api, served=served) as adapter:
            await adapter.value(E)
            await asyncio.sleep(0.3)
            api.asked.clear()
            table = partial(adapter.process.tables.table, served[0].metric, ("game", "chat"))
            answers = await asyncio.gather(*(table() for _ in range(100)))

            narrow = [each for each in api.asked if 'hpa_target_name="chat"' in each]
            assert len(narrow) == 1
            assert len({id(each) for each in answers}) == 1

    with prometheus() as api:
        run(work(api))


def test_a_prometheus_that_hangs_is_waited_for_by_nobody_in_turn(tmp_path: Path) -> None:
    class Hanging(PromApi):
        """Answers nothing in time."""

        def reply(self, form: Mapping[str, list[str]]) -> Reply:
            """Return what comes too late."""
            self.asked.append(form["query"][0])
            time.sleep(0.2)
            return Reply(status=503, body=b'{"status":"error","errorType":"timeout","error":"x"}')

    async def work(api: PromApi) -> None:
        async with adapting(tmp_path, Authority(), api) as adapter:
            while not adapter.log.of("query_failed"):  # noqa: ASYNC110 - a server tells nobody
                await asyncio.sleep(0.05)
            begun_s = time.monotonic()
            places = [("game", f"w{number}") for number in range(60)]
            found = await asyncio.gather(
                *(adapter.process.tables.table(EXPECTED, each) for each in places)
            )

            assert found == [None] * 60
            assert time.monotonic() - begun_s < 3
            assert len([each for each in api.asked if 'hpa_target_name="w' in each]) <= 4

    with prometheus(Hanging()) as api:
        run(work(api))


def test_two_names_stay_two_names_however_it_is_asked(tmp_path: Path) -> None:
    served = [replace(each, metric=replace(each.metric, refresh_s=0.05)) for each in SERVED]

    async def work(api: PromApi) -> None:
        api.put_member(E, 12, member="chat-0")
        api.put_member(f"{E}_count", 3, member="lobby-0", target="lobby")
        async with adapting(tmp_path, Authority(), api, served=served) as adapter:
            first = await adapter.value(E)
            await asyncio.sleep(0.3)
            later = await adapter.value(E)

            assert (first, later) == ("503 AmbiguousSeries",) * 2

    with prometheus() as api:
        run(work(api))


def test_an_index_counts_only_if_all_members_have_spoken(tmp_path: Path) -> None:
    """Covers M-10."""
    authority = Authority()
    authority.scale("chat", replicas=4, running=4)
    authority.scale("lobby", replicas=4, running=4)
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    authority.pods = [{"metadata": {"uid": str(number)}, "status": ready} for number in range(3)]

    async def work(api: PromApi) -> None:
        for index in range(3):
            api.put_member(S, index + 1, member=f"chat-{index}")
        api.put_member(S, 1, member="lobby-0", target="lobby")
        async with adapting(tmp_path, authority, api) as adapter:
            enough = await adapter.value(S)
            missing = await adapter.value(S, query="labelSelector=hpa_target_name%3Dlobby")
            unknown = await adapter.value(S, query="labelSelector=hpa_target_name%3Dnone")

            assert (enough, missing, unknown) == ("3", "503 MembersMissing", "404 NoSamples")

    with prometheus() as api:
        run(work(api))


def test_what_is_written_down_stands_for_members_that_have_not_spoken(tmp_path: Path) -> None:
    """Covers M-10, R-58 in part."""
    authority = Authority()
    index = replace(SERVED[1], metric=replace(SERVED[1].metric, counts_records=True))
    for name in ("chat", "lobby", "broken"):
        authority.scale(name, replicas=4, running=4)
    authority.scale("town", replicas=4, running=4, resource="deployments")
    authority.pods = [
        {"metadata": {"uid": str(number)}, "status": {"conditions": [READY]}} for number in range(4)
    ]
    authority.records["chat"] = {"1": "{}", "4": "no record", "note": "5"}
    authority.records["town"] = {"9": "{}"}
    authority.records["broken"] = {"1": 4}  # type: ignore[dict-item]

    async def work(api: PromApi) -> None:
        for target in ("chat", "lobby", "broken"):
            api.put_member(S, 2, member=f"{target}-1", target=target)
        api.put(
            S,
            2,
            k8s_namespace_name="game",
            hpa_target_name="town",
            hpa_target_kind="Deployment",
            instance="town-a",
        )
        async with adapting(tmp_path, authority, api, served=[SERVED[0], index]) as adapter:
            kept = await adapter.value(S)
            asked = len(authority.of("configmaps/chat-hpa-records"))
            await adapter.value(S)
            unkept = await adapter.value(S, query=f"{TARGET}lobby")
            unread = await adapter.value(S, query=f"{TARGET}broken")
            other = await adapter.value(S, query=f"{TARGET}town,hpa_target_kind%3DDeployment")

            assert kept == "4", "what cannot be read still protects its number"
            assert len(authority.of("configmaps/chat-hpa-records")) == asked
            assert (unkept, unread, other) == ("503 MembersMissing",) * 3
            assert [each["workload"] for each in adapter.log.of("records_unread")] == ["broken"]

    with prometheus() as api:
        run(work(api))


def test_records_that_may_not_be_read_are_not_asked_for_all_the_time(tmp_path: Path) -> None:
    authority = Authority()
    index = replace(SERVED[1], metric=replace(SERVED[1].metric, counts_records=True))
    authority.scale("chat", replicas=1, running=1)
    authority.forbidden.add("chat-hpa-records")

    async def work(api: PromApi) -> None:
        api.put_member(S, 1, member="chat-0")
        async with adapting(tmp_path, authority, api, served=[SERVED[0], index]) as adapter:
            answers = [await adapter.value(S) for _ in range(3)]

            assert answers == ["1"] * 3
            assert len(authority.of("chat-hpa-records")) == 1
            assert len(adapter.log.of("records_unread")) == 1

    with prometheus() as api:
        run(work(api))


def test_a_question_may_say_of_which_kind_its_workload_is(tmp_path: Path) -> None:
    authority = Authority()
    authority.scale("town", replicas=2, running=2, resource="deployments")

    async def work(api: PromApi) -> None:
        for pod in ("town-a", "town-b"):
            api.put(
                S,
                2,
                k8s_namespace_name="game",
                hpa_target_name="town",
                hpa_target_kind="Deployment",
                instance=pod,
            )
        async with adapting(tmp_path, authority, api) as adapter:
            name = "labelSelector=hpa_target_name%3Dtown"
            said = await adapter.value(S, query=f"{name},hpa_target_kind%3DDeployment")
            unsaid = await adapter.value(S, query=name)

            assert (said, unsaid) == ("2", "503 WorkloadUnknown")
            assert authority.of("/deployments/town/scale")

    with prometheus() as api:
        run(work(api))


def test_what_fails_behind_it_is_a_refusal_and_stays_one_metric_s(tmp_path: Path) -> None:
    """Covers R-46 in part, R-50 in part."""
    authority = Authority()

    async def work(api: PromApi) -> None:
        api.fails_with = Reply(
            status=503, body=b'{"status":"error","errorType":"timeout","error":"x"}'
        )
        async with adapting(tmp_path, authority, api) as adapter:
            answers = [await adapter.value(E) for _ in range(3)]
            ready = await call(adapter.pages, "GET", "/readyz")

            assert answers == ["503 SourceUnavailable"] * 3
            whole, narrow = (each for each in api.asked if each.startswith(E))
            assert 'hpa_target_name!=""' in whole
            assert 'hpa_target_name="chat"' in narrow, "it may be too much for all alone"
            assert ready.status == 200
            (told,) = (each for each in adapter.log.of("query_failed") if each["metric"] == E)
            assert "timeout" in str(told["message"])

    with prometheus() as api:
        run(work(api))


@pytest.mark.parametrize("path", ["/nothing", f"{ROOT}/namespaces", f"{ROOT}/namespaces/game/no"])
def test_what_is_not_there_is_told_as_an_api_server_does(tmp_path: Path, path: str) -> None:
    async def work(api: PromApi) -> None:
        async with adapting(tmp_path, Authority(), api) as adapter:
            answer = await adapter.ask(path)
            posted = await call(
                adapter.calls, "POST", f"{ROOT}", b"{}", extra=HPA, tls=adapter.pki.front_proxy()
            )

            assert (answer.status, json.loads(answer.body)["reason"]) == (404, "NotFound")
            assert (posted.status, json.loads(posted.body)["reason"]) == (405, "MethodNotAllowed")

    with prometheus() as api:
        run(work(api))


def test_a_renewed_certificate_and_a_renewed_front_proxy_count_without_a_restart(
    tmp_path: Path,
) -> None:
    """Covers F-27."""
    authority = Authority()

    async def work(api: PromApi) -> None:
        async with adapting(tmp_path, authority, api) as adapter:
            before = adapter.pki.front_proxy()
            authority.front_ca = type(authority.front_ca)()
            await adapter.process.identity.read_front_proxy(adapter.certificates)

            assert (await adapter.ask(ROOT)).status == 200
            with pytest.raises(
                (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError, IndexError)
            ):
                await adapter.ask(ROOT, tls=before)

    with prometheus() as api:
        run(work(api))


def test_other_metrics_are_passed_through(tmp_path: Path) -> None:
    authority = Authority()
    listed = {"kind": "ExternalMetricValueList", "items": []}

    async def work(api: PromApi, url: str) -> None:
        token = tmp_path / "token"
        token.write_text("ours\n")
        async with (
            Upstream(Other(url=url, token_file=str(token))) as upstream,
            adapting(tmp_path, authority, api, upstream=upstream) as adapter,
        ):
            answer = await adapter.ask(value_path("s0-queue", query="labelSelector=a%3Db"))
            own = await adapter.value(E)

            assert json.loads(answer.body) == listed
            assert own == "404 NoSamples"

    with prometheus() as api, serving(lambda _path, _body: listed) as other:
        run(work(api, other.url))

        ((path, _),) = other.asked
        assert path == f"{ROOT}/namespaces/game/s0-queue?labelSelector=a%3Db"
        assert other.headers[0]["Authorization"] == "Bearer ours"


def test_an_upstream_that_is_gone_is_a_refusal(tmp_path: Path) -> None:
    async def work(api: PromApi) -> None:
        async with (
            Upstream(Other(url="http://127.0.0.1:9")) as upstream,
            adapting(tmp_path, Authority(), api, upstream=upstream) as adapter,
        ):
            answer = await adapter.ask(value_path("s0-queue"))

            assert answer.status == 503
            assert b"127.0.0.1" not in answer.body

    with prometheus() as api:
        run(work(api))


def test_custom_metrics_are_of_an_object(tmp_path: Path) -> None:
    root = "/apis/custom.metrics.k8s.io/v1beta2"

    async def work(api: PromApi) -> None:
        api.put_member(E, 7, member="chat-0")
        async with adapting(
            tmp_path, Authority(), api, served=SERVED, serves_custom_metrics=True
        ) as adapter:
            found = await adapter.ask(f"{root}/namespaces/game/statefulsets.apps/chat/{E}")
            other = await adapter.ask(f"{root}/namespaces/game/deployments.apps/chat/{E}")

            (item,) = json.loads(found.body)["items"]
            assert (item["value"], item["describedObject"]["kind"]) == ("7", "StatefulSet")
            assert other.status == 404

    with prometheus() as api:
        run(work(api))


def test_its_own_metrics_name_only_what_is_configured(tmp_path: Path) -> None:
    async def work(api: PromApi) -> None:
        api.put_member(E, 7, member="chat-0")
        async with adapting(tmp_path, Authority(), api) as adapter:
            await adapter.value(E)
            await adapter.value("made-up")
            page = (await call(adapter.pages, "GET", "/metrics")).body.decode()

            assert f'springtide_adapter_answers_total{{metric="{E}",reason="answered"}} 1.0' in page
            assert f'hpa_adapter_selfcheck{{metric="{E}"}} 1.0' in page
            assert "made-up" not in page

    with prometheus() as api:
        run(work(api))


def test_the_names_of_a_metric_are_checked_though_nobody_asks_for_it(tmp_path: Path) -> None:
    """Covers R-35, M-16."""

    async def work(api: PromApi) -> None:
        api.put_member(E, 7, member="chat-0")
        api.put_member(f"{E}_count", 7, member="chat-0")
        async with adapting(tmp_path, Authority(), api) as adapter:
            page, clear = "", f'hpa_adapter_selfcheck{{metric="{E}"}} 0.0'
            for _ in range(200):
                if clear in page:
                    break
                await asyncio.sleep(0.02)
                page = (await call(adapter.pages, "GET", "/metrics")).body.decode()

            ready = await call(adapter.pages, "GET", "/readyz")
            assert clear in page
            assert ready.status == 200
            assert E in "".join(api.asked)

    with prometheus() as api:
        run(work(api))

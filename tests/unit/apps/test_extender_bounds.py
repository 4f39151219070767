"""How long and how often extenders are called, and by which certificates they are known."""

import base64
import ssl
from collections.abc import Mapping
from typing import Any

import pytest
import trustme

from springtide.apps.planner import PlanReport
from springtide.apps.planner.spending import Calls
from springtide.wire.errors import InvalidDocument
from tests.extending import CALLS, LICENSED, licence_extender, licences, node, planned, pod
from tests.serving import Reply, serving


def test_a_call_lasts_no_longer_than_the_extenders_time() -> None:
    with serving(lambda *_: Reply(hangs=True)) as server:
        report = planned(
            [licence_extender(server, httpTimeout="30ms")], node("a"), pod(amounts=LICENSED)
        )

    assert report.stuck[0].message == (
        f'Post "{server.url}/licences/filter": no answer within 0.03 s'
    )


def test_a_call_lasts_no_longer_than_the_budget() -> None:
    with serving(lambda *_: Reply(hangs=True)) as server:
        report = planned(
            [licence_extender(server)],
            node("a"),
            pod(amounts=LICENSED),
            calls=Calls(budget_s=0.03),
        )

    assert report.stuck[0].message == (
        "extender budget exhausted: 0.03 s are spent on calls; allow more with --extender-budget"
    )
    assert report.extenders[0].is_missing


def test_no_more_calls_are_made_than_allowed() -> None:
    pods = [pod(f"p{n}", amounts=LICENSED, labels={"n": str(n)}) for n in range(9)]

    with serving(licences) as server:
        report = planned([licence_extender(server)], node("a"), *pods, calls=Calls(calls_max=6))

    assert len(server.asked) == 6
    assert report.extenders[0].calls == 6
    assert {each.message for each in report.stuck} == {
        (
            "0/1 nodes are available: 1 no licence left. preemption: "
            "0/1 nodes are available: 1 No preemption victims found for incoming pod."
        ),
        "extender budget exhausted: 6 calls are made; allow more with --extender-max-calls",
    }


def test_an_extender_that_cannot_be_reached_is_not_asked_again_and_again() -> None:
    pods = [pod(f"p{n}", amounts=LICENSED, labels={"n": str(n)}) for n in range(20)]
    with serving(licences) as server:
        pass

    report = planned([licence_extender(server)], node("a"), *pods)

    (extender,) = report.extenders
    assert (extender.calls, extender.failures) == (4, 20)
    assert "Connection refused" in extender.error
    assert server.asked == []


AUTHORITY = trustme.CA()


def secure(change: Mapping[str, Any], *, calls: Calls = CALLS) -> PlanReport:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    with serving(licences, tls=context) as server:
        return planned(
            [licence_extender(server, **change)],
            node("a", licences="1"),
            pod(amounts=LICENSED),
            calls=calls,
        )


def ca_data() -> str:
    return base64.b64encode(AUTHORITY.cert_pem.bytes()).decode()


def test_the_ca_of_the_configuration_is_the_one_that_counts() -> None:
    report = secure({"enableHTTPS": True, "tlsConfig": {"caData": ca_data()}})

    assert len(report.fitting) == 1
    assert report.problems == ()


def test_a_server_that_the_system_does_not_trust_is_not_asked() -> None:
    report = secure({})

    assert "certificate is not valid" in report.stuck[0].message
    assert report.extenders[0].is_missing


def test_without_a_ca_nothing_is_checked_and_that_is_a_problem() -> None:
    report = secure({"enableHTTPS": True})

    (problem,) = report.problems
    assert len(report.fitting) == 1
    assert problem.field == "extenders[0].enableHTTPS"
    assert "certificate is not checked" in problem.message


def test_without_a_ca_nobody_is_called_if_tls_is_strict() -> None:
    with pytest.raises(InvalidDocument, match=r"extenders\[0\].enableHTTPS.*strict-tls"):
        secure({"enableHTTPS": True}, calls=Calls(is_strict_tls=True))


def test_certificates_that_are_not_there_are_a_fault_of_the_input() -> None:
    fault = r"extenders\[0\].tlsConfig.caFile: The extender cannot be called: nowhere.pem"

    with pytest.raises(InvalidDocument, match=fault):
        secure({"tlsConfig": {"caFile": "nowhere.pem"}})

"""Asks a running extender why pods have no node, instead of reading the whole cluster.

It is found by the label that HAMi's chart and ours give its Service, or named by its address. Where nobody
answers who knows the question, the caller reads the cluster; a named one has to answer.
"""

from typing import Final

import msgspec

from springtide.apps.planner import Onlooker
from springtide.apps.why import WhyReport
from springtide.apps.why.asked import Names
from springtide.base.telling import Level
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.cli.options import Cluster

SELECTOR: Final = "app.kubernetes.io/component=hami-scheduler"
PATH: Final = "/v1/why"
_OK: Final = 200
_WRONG: Final = (400, 404)


class _Fault(msgspec.Struct, frozen=True):
    error: str


_REPORT: Final = msgspec.json.Decoder(WhyReport)
_FAULT: Final = msgspec.json.Decoder(_Fault)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """An extender by its address, whose certificate is checked unless that is to be skipped."""

    url: str
    skips_verification: bool = False


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Which pods, and whether every node is to be told by itself."""

    names: Names
    tells_all_nodes: bool = False

    @property
    def query(self) -> list[tuple[str, str]]:
        """Return it as an extender takes it."""
        query = [("pod", each) for each in self.names.pods]
        if self.names.namespace:
            query.append(("namespace", self.names.namespace))
        if self.tells_all_nodes:
            query.append(("allNodes", "true"))
        return query


def of_cluster(cluster: Cluster, asked: Asked, *, onlooker: Onlooker) -> WhyReport | None:
    """Return the answer of the extender of a cluster, None if there is none that answers."""
    # Only what talks to a cluster loads what it takes to do so.
    from springtide.edge import kube  # noqa: PLC0415

    onlooker.progress.begin("Asking the extender of the cluster")
    access = kube.Access(
        kubeconfig=cluster.kubeconfig, context=cluster.context, timeout_s=cluster.timeout_s
    )
    page = kube.Page(selector=SELECTOR, path=PATH, query=asked.query)
    try:
        answer = kube.looked_at(
            access, page, accepts=lambda each: _is_final(each.status, each.body)
        )
    except (kube.ClusterFault, msgspec.MsgspecError) as fault:
        onlooker.tell(Level.DECISION, "extender_not_asked", why=str(fault))
        return None
    if answer is None:
        onlooker.tell(Level.DECISION, "extender_not_asked", why="None of the cluster answers.")
        return None
    return _told(answer.status, answer.body)


def of_server(server: Server, asked: Asked, *, timeout_s: float) -> WhyReport:
    """Return the answer of one extender, or end the command."""
    from springtide.edge import http  # noqa: PLC0415 - as above
    from springtide.model.scheduler import ExtenderTLSConfig  # noqa: PLC0415

    tls = http.client_context(ExtenderTLSConfig(insecure=server.skips_verification))
    url = f"{server.url.rstrip('/')}{PATH}"
    try:
        found = http.look(url, asked.query, tls=tls, timeout_s=timeout_s or None)
    except http.Unusable as fault:
        raise Ended(f"--server: {fault}", USAGE) from fault
    except http.HttpFault as fault:
        raise Ended(
            f"{fault}. Check that the extender is up and its address.", UNREACHABLE
        ) from fault
    if not _is_final(found.status, found.body):
        said = (
            _said(found.body) or f"{url} answered with {found.status}, as no extender of ours does."
        )
        raise Ended(said, UNREACHABLE)
    return _told(found.status, found.body)


def _is_final(status: int, body: bytes) -> bool:
    """Return whether this is the answer: a report, or a sentence about a question that is wrong."""
    if status == _OK:
        return _is_report(body)
    return status in _WRONG and bool(_said(body))


def _is_report(body: bytes) -> bool:
    try:
        _REPORT.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def _said(body: bytes) -> str:
    try:
        return _FAULT.decode(body).error
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def _told(status: int, body: bytes) -> WhyReport:
    if status != _OK:
        raise Ended(_said(body), USAGE)
    return _REPORT.decode(body)

"""What extenders answer over HTTP, row by row, and what becomes of it."""

import gzip
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.consulting import consulted
from springtide.apps.planner.families import Policies, families
from springtide.edge.machine import MachineClock
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.extenders import FAILURE
from springtide.model.refusal import Refusal
from tests.extending import CALLS, LICENCE, agreeing, node, passing, pod, read
from tests.serving import Body, Reply, serving


def heard(
    extenders: Sequence[dict[str, Any]], nodes: Sequence[str], pending: dict[str, Any]
) -> list[Refusal | None]:
    """Returns what the extenders come to about these nodes, as a plan would ask them."""
    found = read(extenders, *map(node, nodes), pending)
    kinds = families(None, Policies())
    picture = assemble(found, kinds)
    clock = MachineClock()
    with consulted(found, picture, kinds, allowed=CALLS, clock=clock) as consulting:
        classifier = Classifier(kinds, appearance=consulting.appearance)
        assert consulting.extenders is not None
        return consulting.extenders.answers(classifier.classify(picture.waiting[0]), nodes)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table: extenders by path, what each answers, and what comes of three nodes.

    `asked` is who is called with which nodes; `outcome` has a text for each node, empty if it
    passes, or one text if the attempt fails.
    """

    extenders: dict[str, dict[str, Any]]
    answers: dict[str, Any]
    asked: list[tuple[str, list[str]]]
    outcome: list[str] | str
    pending: dict[str, Any] | None = None


BY_NAME = {"nodeCacheCapable": True}
IGNORABLE = {**BY_NAME, "ignorable": True}
ERROR = Reply(status=500)
ALL = ["n1", "n2", "n3"]
MANAGED = {"managedResources": [{"name": LICENCE}], **BY_NAME}
IN_LIMITS_OF_INIT = pod(part="initContainers", amounts={"limits": {LICENCE: "0"}})

ROWS = {
    "E1": Row(
        extenders={"a": BY_NAME, "b": BY_NAME},
        answers={
            "a": {"NodeNames": ["n1", "n2"], "FailedNodes": {"n3": "first"}},
            "b": {"NodeNames": ["n2"], "FailedNodes": {"n1": "second"}},
        },
        asked=[("a", ALL), ("b", ["n1", "n2"])],
        outcome=["second", "", "first"],
    ),
    "E2": Row(
        extenders={"a": BY_NAME, "b": BY_NAME},
        answers={"a": {"NodeNames": [], "FailedNodes": dict.fromkeys(ALL, "no")}},
        asked=[("a", ALL)],
        outcome=["no", "no", "no"],
    ),
    "E3": Row(
        extenders={"a": BY_NAME, "b": BY_NAME},
        answers={
            "a": {"NodeNames": ["n2"], "FailedNodes": {"n1": "no"}},
            "b": {"NodeNames": ["n2"], "FailedAndUnresolvableNodes": {"n1": "never sent"}},
        },
        asked=[("a", ALL), ("b", ["n2"])],
        outcome=["no", "", "node(s) filtered out by extender {a}"],
    ),
    "E4": Row(
        extenders={"a": BY_NAME},
        answers={
            "a": {
                "NodeNames": ["n2", "n3"],
                "FailedNodes": {"n1": "quota"},
                "FailedAndUnresolvableNodes": {"n1": "wrong rack"},
            }
        },
        asked=[("a", ALL)],
        outcome=["wrong rack (unresolvable)", "", ""],
    ),
    "E5": Row(
        extenders={"a": BY_NAME, "b": BY_NAME},
        answers={"a": ERROR},
        asked=[("a", ALL)],
        outcome="failed filter with extender at URL {a}/filter, code 500",
    ),
    "E6": Row(
        extenders={"a": IGNORABLE, "b": IGNORABLE},
        answers={"a": ERROR, "b": {"NodeNames": ["n1"]}},
        asked=[("a", ALL), ("b", ALL)],
        outcome=[
            "",
            "node(s) filtered out by extender {b}",
            "node(s) filtered out by extender {b}",
        ],
    ),
    "E7 not ignorable": Row(
        extenders={"a": BY_NAME},
        answers={"a": {"NodeNames": ALL, "Error": "boom"}},
        asked=[("a", ALL)],
        outcome="boom",
    ),
    "E7 ignorable": Row(
        extenders={"a": IGNORABLE},
        answers={"a": {"NodeNames": [], "Error": "boom"}},
        asked=[("a", ALL)],
        outcome=["", "", ""],
    ),
    "E8": Row(
        extenders={"a": IGNORABLE, "b": BY_NAME},
        answers={},
        asked=[("b", ALL), ("a", ALL)],
        outcome=["", "", ""],
    ),
    "E9": Row(
        extenders={"a": MANAGED},
        answers={},
        asked=[("a", ALL)],
        outcome=["", "", ""],
        pending=IN_LIMITS_OF_INIT,
    ),
    "E10": Row(
        extenders={"a": MANAGED, "b": BY_NAME},
        answers={},
        asked=[("b", ALL)],
        outcome=["", "", ""],
    ),
    "E11": Row(
        extenders={"a": BY_NAME},
        answers={"a": {"NodeNames": ["n1", "n9"]}},
        asked=[("a", ALL)],
        outcome='extender "{a}" claims a filtered node "n9" which is not found in the input node list',
    ),
    "E11 with whole nodes": Row(
        extenders={"a": {}},
        answers={"a": {"Nodes": {"items": [{"metadata": {"name": "n9"}}]}}},
        asked=[("a", ALL)],
        outcome='extender "{a}" claims a filtered node "n9" which is not found in the input node list',
    ),
    "E14": Row(
        extenders={"a": BY_NAME},
        answers={"a": {"nodenames": ["n1"], "failednodes": {"n2": "x", "n3": "y"}}},
        asked=[("a", ALL)],
        outcome=["", "x", "y"],
    ),
    "E15": Row(
        extenders={"a": BY_NAME},
        answers={"a": {}},
        asked=[("a", ALL)],
        outcome=["node(s) filtered out by extender {a}"] * 3,
    ),
    "FC-041": Row(
        extenders={"opt": {**IGNORABLE, "urlPrefix": "http://127.0.0.1:1"}, "gpu": BY_NAME},
        answers={},
        asked=[("gpu", ALL)],
        outcome=["", "", ""],
    ),
    "FC-044": Row(
        extenders={"a": BY_NAME, "b": BY_NAME},
        answers={
            "a": {
                "NodeNames": ["n2", "n3"],
                "FailedNodes": {"n1": "1/1 CardInsufficientMemory"},
            },
            "b": {
                "NodeNames": ["n3"],
                "FailedNodes": {"n2": "quota"},
                "FailedAndUnresolvableNodes": {"n2": "wrong rack"},
            },
        },
        asked=[("a", ALL), ("b", ["n2", "n3"])],
        outcome=["1/1 CardInsufficientMemory", "wrong rack (unresolvable)", ""],
    ),
    "packed": Row(
        extenders={"a": BY_NAME},
        answers={
            "a": Reply(
                body=gzip.compress(b'{"NodeNames": ["n2"]}'),
                headers=(("Content-Encoding", "gzip"),),
            )
        },
        asked=[("a", ALL)],
        outcome=[
            "node(s) filtered out by extender {a}",
            "",
            "node(s) filtered out by extender {a}",
        ],
    ),
    **{
        f"code {status}": Row(
            extenders={"a": BY_NAME},
            answers={"a": Reply(status=status, headers=(("Location", "/b/filter"),))},
            asked=[("a", ALL)],
            outcome=f"failed filter with extender at URL {{a}}/filter, code {status}",
        )
        for status in (201, 204, 302, 307)
    },
    **{
        name: Row(
            extenders={"a": BY_NAME},
            answers={"a": Reply(body=body)},
            asked=[("a", ALL)],
            outcome=f'Post "{{a}}/filter": {words}',
        )
        for name, body, words in (
            ("empty", b"", "the answer is empty"),
            (
                "no JSON",
                b"<html>",
                "the answer is not JSON: JSON is malformed: invalid character (byte 0)",
            ),
            ("broken off", b'{"NodeNames": [', "the answer is not JSON: Input data was truncated"),
        )
    },
}


@pytest.mark.parametrize("name", ROWS)
def test_extenders_are_heard_as_kube_scheduler_hears_them(name: str) -> None:
    row = ROWS[name]

    def answer(path: str, request: Body) -> Reply | Body:
        found: Reply | Body = row.answers.get(path.split("/")[1], agreeing(path, request))
        return found

    with serving(answer) as server:
        urls = {each: f"{server.url}/{each}" for each in row.extenders}
        answers = heard(
            [
                {"urlPrefix": urls[each], "filterVerb": "filter", **settings}
                for each, settings in row.extenders.items()
            ],
            ALL,
            row.pending or pod(),
        )

    asked = [(path.split("/")[1], passing(request)) for path, request in server.asked]
    assert asked == row.asked
    if isinstance(row.outcome, str):
        assert {each.rule for each in answers if each is not None} == {FAILURE}
        assert told(answers) == [row.outcome.format(**urls)] * 3
    else:
        assert told(answers) == [each.format(**urls) for each in row.outcome]


def told(answers: Sequence[Refusal | None]) -> list[str]:
    return [
        "" if each is None else f"{each.text} (unresolvable)" if each.is_unresolvable else each.text
        for each in answers
    ]

"""Going through a filter call in steps finds what reading it at once finds, or the same fault."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from springtide.wire.extender import Candidates, MalformedArguments, candidates_in_steps
from springtide.wire.k8s import Parts

TEXTS = st.text(max_size=6)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NODES = st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({"name": st.text(min_size=1, max_size=6)})},
    optional={"status": ANYTHING, "metadata ": ANYTHING},
)
LISTS = st.fixed_dictionaries(
    {}, optional={"items": st.lists(NODES | ANYTHING, max_size=4) | st.none(), "Items": ANYTHING}
)
PODS = st.just({"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {}}) | ANYTHING
KEYS = st.sampled_from(["Pod", "pod", "Nodes", "NODES", "NodeNames", "nodenames", "Other"])
MEMBERS = st.lists(st.tuples(KEYS, PODS | LISTS | st.lists(TEXTS, max_size=2)), max_size=5)


def text(members: list[tuple[str, Any]], indent: int | None) -> str:
    """Return an object with members in this order, of which several may have one key."""
    return (
        "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v, indent=indent)}" for k, v in members) + "}"
    )


def read(data: bytes, *, step_bytes: int) -> Candidates | str:
    """Return what a call asks as far as it can be compared, or the fault."""
    steps = candidates_in_steps(data, Parts(), step_bytes=step_bytes)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Candidates = done.value
            return found
        except MalformedArguments as fault:
            return str(fault)


def same(data: bytes) -> None:
    at_once, in_steps = read(data, step_bytes=1 << 30), read(data, step_bytes=0)
    if isinstance(at_once, str) or isinstance(in_steps, str):
        assert in_steps == at_once
        return
    assert (in_steps.pod, in_steps.names, in_steps.has_nodes) == (
        at_once.pod,
        at_once.names,
        at_once.has_nodes,
    )
    assert [bytes(each) for each in in_steps.objects or ()] == [
        bytes(each) for each in at_once.objects or ()
    ]
    assert (in_steps.objects is None) == (at_once.objects is None)


@given(MEMBERS, st.sampled_from([None, 1]), st.sampled_from(["", " ", "x", "{}", "\n]"]))
def test_every_object_is_read_alike(
    members: list[tuple[str, Any]], indent: int | None, behind: str
) -> None:
    same((text(members, indent) + behind).encode())


@given(MEMBERS, st.integers(0, 200))
def test_every_beginning_of_an_object_is_read_alike(
    members: list[tuple[str, Any]], size: int
) -> None:
    same(text(members, None).encode()[:size])


@given(st.binary(max_size=40))
def test_bytes_that_are_nothing_are_read_alike(data: bytes) -> None:
    same(data)


def test_whole_nodes_are_gone_through_step_by_step() -> None:
    items = [{"metadata": {"name": f"n{each}"}, "status": "x" * 1000} for each in range(50)]
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {}}
    body = json.dumps({"Pod": pod, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None})

    steps = list(candidates_in_steps(body.encode(), Parts(), step_bytes=5000))

    assert len(steps) >= 10

"""What an extender answers, byte for byte as Go's types are written."""

import msgspec

from springtide.wire.extender import (
    binding_result,
    failed_nodes,
    filter_error,
    kept_names,
    kept_nodes,
    priorities,
    read_answer,
)


def test_one_name_passes() -> None:
    expected = (
        b'{"Nodes":null,"NodeNames":["node2"],"FailedNodes":null,'
        b'"FailedAndUnresolvableNodes":null,"Error":""}'
    )

    assert kept_names(["node2"]) == expected


def test_no_node_passes() -> None:
    expected = (
        b'{"Nodes":null,"NodeNames":null,"FailedNodes":{"node1":"2/2 CardInsufficientMemory"},'
        b'"FailedAndUnresolvableNodes":null,"Error":""}'
    )

    assert failed_nodes({"node1": "2/2 CardInsufficientMemory"}) == expected


def test_nodes_go_back_as_they_came() -> None:
    node = msgspec.Raw(b'{"metadata": {"name":"a"}}')

    answer = kept_nodes([node])

    assert b'"Nodes":{"items":[{"metadata": {"name":"a"}}],"metadata":{}}' in answer
    assert read_answer(answer, by_name=False).kept == ("a",)


def test_an_error_is_all_there_is() -> None:
    answer = read_answer(filter_error("why"), by_name=True)

    assert (answer.kept, answer.failed, answer.error) == ((), {}, "why")


def test_a_bind_is_answered() -> None:
    assert binding_result() == b'{"Error":""}'
    assert binding_result("locked") == b'{"Error":"locked"}'


def test_scores_are_a_list() -> None:
    assert priorities({"a": 10}) == b'[{"Host":"a","Score":10}]'

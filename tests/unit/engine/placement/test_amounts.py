"""Whole numbers that containers ask of resources."""

import pytest

from springtide.base.quantity import of, parse
from springtide.engine.placement.amounts import amount, each_admitted, with_amount
from springtide.model.pod import Container, PodSpec
from springtide.model.refusal import Refusal


def asking(text: str) -> Container:
    return Container(name="main", limits=(("x/mem", parse(text)),))


@pytest.mark.parametrize(("text", "expected"), [("5", 5), ("0", 0), ("1k", 1000), ("2000m", 2)])
def test_a_whole_number_is_read_however_it_is_spelled(text: str, expected: int) -> None:
    assert amount(asking(text), "x/mem", family="X") == expected


@pytest.mark.parametrize("text", ["-1", "500m", "16Gi", "9"])
def test_what_makes_no_sense_is_refused(text: str) -> None:
    answer = amount(asking(text), "x/mem", family="X", maximum=8)

    assert isinstance(answer, Refusal)
    assert answer.reasons == (
        f"container main asks x/mem: {text}, which is not a whole number from 0 to 8",
    )


def test_the_remedy_for_bytes_is_named() -> None:
    answer = amount(asking("16Gi"), "x/mem", family="X")

    assert isinstance(answer, Refusal)
    assert answer.detail == "memory is counted in MiB: write 16384"


def test_a_resource_without_a_name_is_never_asked() -> None:
    assert amount(asking("1"), "", family="X") is None
    assert amount(asking("1"), "x/other", family="X") is None


def test_a_limit_counts_before_a_request() -> None:
    both = Container(name="c", limits=(("x", of(1)),), requests=(("x", of(2)), ("y", of(3))))

    assert amount(both, "x", family="X") == 1
    assert amount(both, "y", family="X") == 3


def test_an_amount_is_set_in_limits_and_requests_alike() -> None:
    container = with_amount(asking("1"), "x/mem", 7)

    assert container.limits == container.requests == (("x/mem", of(7)),)


def test_the_first_denied_container_denies_the_spec() -> None:
    spec = PodSpec(
        containers=(Container(name="app"),),
        init_containers=(Container(name="a"), Container(name="b")),
    )

    def denied(container: Container) -> Container | Refusal:
        is_denied = container.name in {"b", "app"}
        return Refusal(rule="X", reasons=(container.name,)) if is_denied else container

    answer = each_admitted(spec, denied)

    assert isinstance(answer, Refusal)
    assert answer.text == "b"
    assert each_admitted(spec, lambda container: container) is spec

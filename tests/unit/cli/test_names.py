"""Many pod names as few words."""

import pytest

from springtide.cli.names import listed, workload, workloads


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a/train-0"], "a/train-0"),
        (["a/train-0", "a/train-1"], "a/train-0 a/train-1"),
        (["a/train-0", "a/train-1", "a/train-2"], "a/train-[0-2]"),
        (["a/train-0", "a/train-9", "a/train-2", "a/train-1"], "a/train-[0-2,9]"),
        (["a/t-2", "a/big-0", "a/t-0", "a/t-1"], "a/t-[0-2] a/big-0"),
        (["a/web-5c8-bcdfg", "a/web-5c8-hjklm", "a/web-5c8-nzpqr"], "a/web-5c8-* (3)"),
        (["a/job-0-bcdfg", "a/job-1-hjklm", "a/job-2-nzpqr"], "a/job-[0-2]-*"),
        (["a/train-08", "a/train-09", "a/train-10"], "a/train-[08-10]"),
        (["a/train-8", "a/train-09", "a/train-010"], "a/train-* (3)"),
        (["a/train-0", "a/train-1", "a/train-2", "a/train-10"], "a/train-[0-2,10]"),
        (["a/train-0", "b/train-1", "c/train-2"], "a/train-0 b/train-1 c/train-2"),
    ],
)
def test_replicas_are_told_by_their_numbers(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_numbers_that_would_not_be_read_are_left_out() -> None:
    names = [f"a/job-{number}" for number in range(0, 40, 2)]

    assert listed(names) == "a/job-* (20)"


def test_names_beyond_the_first_terms_are_counted() -> None:
    names = [f"a/{letter}" for letter in "uvwxyz"]

    assert listed(names) == "a/u a/v a/w and 3 more"


def test_one_term_too_many_is_shown_instead_of_counted() -> None:
    names = [f"a/{letter}" for letter in "uvwx"]

    assert listed(names) == "a/u a/v a/w a/x"


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a/train-12", "a/train"),
        ("a/web-5c8-bcdfg", "a/web-5c8"),
        ("a/job-3-bcdfg", "a/job"),
        ("a/single", "a/single"),
        ("a/train-012", "a/train"),
    ],
)
def test_a_workload_is_named_without_what_tells_replicas_apart(name: str, stem: str) -> None:
    assert workload(name) == stem


def test_workloads_are_counted_in_order_of_appearance() -> None:
    assert workloads(["a/t-0", "b/s-0", "a/t-1"]) == "2 of a/t, 1 of b/s"

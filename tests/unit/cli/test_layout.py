"""Columns and paragraphs, with and without a width."""

import click

from springtide.cli.layout import paragraph, table

HEADERS = ("GROUP", "PODS", "WHY")
LONG = "eight cards lack memory on every one of the nodes that this group would add"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = table(HEADERS, [("a100-80g", "x", "best"), ("t4", "y z", "")], width=None)

    assert [click.unstyle(line) for line in lines] == [
        "GROUP     PODS  WHY",
        "a100-80g  x     best",
        "t4        y z",
    ]


def test_without_a_width_no_line_is_broken() -> None:
    lines = table(HEADERS, [("a100-80g", "x", LONG * 5)], width=None)

    assert len(lines) == 2


def test_the_widest_column_is_wrapped_inside_itself() -> None:
    lines = table(HEADERS, [("a100-80g", "a/train-0", LONG)], width=50)

    plain = [click.unstyle(line) for line in lines]
    assert max(map(len, plain)) <= 50
    assert plain[1].startswith("a100-80g  a/train-0  eight cards")
    assert plain[2].startswith(" " * len("a100-80g  a/train-0  "))
    assert " ".join(line[21:] for line in plain[1:]) == LONG


def test_two_long_columns_share_the_width() -> None:
    lines = table(HEADERS, [("a100-80g", LONG, LONG)], width=80)

    assert max(len(click.unstyle(line)) for line in lines) <= 80


def test_headings_can_be_left_out() -> None:
    assert table(("GROUP",), [("t4",)], width=None, has_headers=False) == ["t4"]


def test_colour_does_not_move_columns() -> None:
    coloured = table(HEADERS, [("t4", "x", "best")], width=None, first_colour="green")
    plain = table(HEADERS, [("t4", "x", "best")], width=None)

    assert coloured != plain
    assert [click.unstyle(line) for line in coloured] == [click.unstyle(line) for line in plain]


def test_a_paragraph_keeps_its_indent_on_every_line() -> None:
    lines = paragraph(LONG, width=40, indent="  ")

    assert all(line.startswith("  ") and len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == LONG


def test_a_paragraph_without_a_width_is_one_line() -> None:
    assert paragraph(LONG, width=None, indent="  ") == [f"  {LONG}"]


def test_words_are_broken_only_where_the_table_would_not_fit() -> None:
    name = "long-team-name/long-model-name-0"
    rows = [("gpu-pool-north", name, "best")]

    wide = [click.unstyle(line) for line in table(HEADERS, rows, width=80)]
    narrow = [click.unstyle(line) for line in table(HEADERS, rows, width=40)]

    assert wide[1] == f"gpu-pool-north  {name}  best"
    assert max(map(len, narrow)) <= 40
    assert "".join(line[16:].removesuffix("best").strip() for line in narrow[1:]) == name


def test_words_stay_whole_where_halves_would_not_fit_either() -> None:
    lines = table(["NAME"] * 9, [["abcdefghijkl"] * 9], width=40)

    assert len(lines) == 2
    assert lines[1].split() == ["abcdefghijkl"] * 9


def test_an_indent_belongs_to_the_first_word_of_its_cell() -> None:
    rows = [("refused", LONG), ("  CardInsufficientMemory", "3")]

    plain = [click.unstyle(line) for line in table(("PODS", "WHY"), rows, width=40)]

    assert any(line.startswith("  CardInsufficientMemory  3") for line in plain)
    assert max(map(len, plain)) <= 40

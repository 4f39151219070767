"""YAML as kubectl reads it; the expectations are what kubectl 1.37 printed as JSON."""

import pytest

from springtide.wire.errors import MalformedDocument
from springtide.wire.yaml import DEPTH_MAX, Plain, documents


def value(text: str) -> Plain:
    """Return the value of the field `x` in a document of one line or more."""
    root = documents(f"x: {text}\n".encode(), "a.yaml")[0].value
    assert isinstance(root, dict)
    return root["x"]


def fault(text: str) -> str:
    with pytest.raises(MalformedDocument) as caught:
        documents(text.encode(), "a.yaml")
    return str(caught.value)


@pytest.mark.parametrize("text", ["yes", "on", "y", "Y", "True", "TRUE", "Yes", "ON"])
def test_the_words_for_true_are_those_of_yaml_1_1(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize("text", ["no", "off", "n", "N", "False", "FALSE", "No", "OFF"])
def test_the_words_for_false_are_those_of_yaml_1_1(text: str) -> None:
    assert value(text) is False


@pytest.mark.parametrize("text", ["~", "null", "Null", "NULL", ""])
def test_the_words_for_nothing_are_null(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "tRUE", "yEs", "nUll", "1:30", "190:20:30", "2001-01-01", "2001-01-01T00:00:00Z", "0b", "0x",
        "0o8", "0b102", "0xfg", "_1", "_", "1e400", "1e400a", ".e1", "1e", "e1", "5x", "0.0.1", "=",
        "++1", "0x1p3", ".infx", "0xFFFFFFFFFFFFFFFFF",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_number_or_a_date_is_text(text: str) -> None:
    assert value(text) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0o17", 15), ("017", 15), ("0O17", 15), ("-017", -15), ("+0o17", 15), ("0_7", 7),
        ("0b11", 3), ("-0b11", -3), ("0x1F", 31), ("-0x1f", -31), ("1_000", 1000), ("+5", 5),
        ("08", 8), ("-0", 0), ("1e3", 1000), ("1E3", 1000), ("1.5e3", 1500), ("1.0e+3", 1000),
        ("1.", 1), ("1.e2", 100), (".5e1", 5), ("0o17_1", 121), ("1e20", 10**20),
    ],
)  # fmt: skip
def test_a_whole_number_is_an_integer_however_it_is_written(text: str, number: int) -> None:
    found = value(text)

    assert found == number
    assert type(found) is int


@pytest.mark.parametrize(
    ("text", "number"),
    [(".5", 0.5), ("-.5", -0.5), ("+.5", 0.5), ("1e-7", 1e-7), ("1_0.5", 10.5), (".1_0", 0.1),
     ("1e21", 1e21), ("0.1e-9", 1e-10)],
)  # fmt: skip
def test_other_numbers_are_floats(text: str, number: float) -> None:
    found = value(text)

    assert found == number
    assert type(found) is float


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'5'", "5"), ('"yes"', "yes"), ("!!str 5", "5"), ("!!int '7'", 7), ("!!int '0o17'", 15),
        ("!!float 5", 5), ("!!bool yes", True), ("!!null ''", None), ("!foo bar", "bar"),
        ("!!binary aGVsbG8=", "hello"), ("!!timestamp 2001-01-01", "2001-01-01"), ("|\n  5", "5\n"),
        ("!foo {a: 1}", {"a": 1}), ("!!set {a, b}", {"a": None, "b": None}),
    ],
)  # fmt: skip
def test_quotes_and_tags_decide_before_the_look_of_a_scalar(text: str, expected: Plain) -> None:
    assert value(text) == expected


def test_scalar_keys_become_the_names_that_json_has() -> None:
    found = value("{yes: 1, 5: x, 1.5: y, 1:30: z, 2001-01-01: d, 0o10: o, 1e3: f, 1e20: g, no: n}")

    assert isinstance(found, dict)
    assert list(found) == ["true", "5", "1.5", "1:30", "2001-01-01", "8", "1000", "1e+20", "false"]


def test_a_merge_key_applies_where_it_stands() -> None:
    base = "base: &b {a: 1, b: 2}\n"
    after, before = "after: {<<: *b, a: own}\n", "before: {a: own, <<: *b}\n"

    root = documents((base + after + before).encode(), "a.yaml")[0].value

    assert isinstance(root, dict)
    assert root["after"] == {"a": "own", "b": 2}
    assert root["before"] == {"a": 1, "b": 2}


def test_of_several_merged_maps_the_first_wins() -> None:
    text = "x: &b {a: 1, b: 2}\ny: &c {a: 9, z: 3}\nz: {<<: [*b, *c]}\n"

    root = documents(text.encode(), "a.yaml")[0].value

    assert isinstance(root, dict)
    assert root["z"] == {"a": 1, "b": 2, "z": 3}


def test_a_quoted_merge_key_is_a_plain_key() -> None:
    assert value('{"<<": {a: 1}}') == {"<<": {"a": 1}}


def test_a_stream_has_many_documents_and_empty_ones_do_not_count() -> None:
    found = documents(b"---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n", "a.yaml")

    assert [each.value for each in found] == [{"a": 1}, {"b": 2}]
    assert [each.line for each in found] == [4, 7]


def test_a_field_knows_its_line() -> None:
    document = documents(b"a: 1\nb:\n  c:\n  - d\n  - e: 5\n", "a.yaml")[0]

    assert document.line_of(("b", "c", 1, "e")) == 5
    assert document.line_of(("b", "c", 0)) == 4


def test_a_field_that_is_not_there_has_the_line_of_what_is_around_it() -> None:
    document = documents(b"a: 1\nb:\n  c: 1\n", "a.yaml")[0]

    assert document.line_of(("b", "missing", 5)) == 2
    assert document.line_of(("missing",)) == 1


def test_a_key_given_twice_is_an_error_with_both_lines() -> None:
    text = fault("a: 1\nb: 2\na: 3\n")

    assert (
        text == 'a.yaml, line 3: the key "a" is given twice, first in line 1. Remove one of them.'
    )


def test_two_spellings_of_one_key_are_that_key_twice() -> None:
    assert 'the key "true" is given twice' in fault("yes: 1\ntrue: 2\n")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x: .inf", '".inf" is not a number that JSON can write'),
        ("x: .nan", "not a number that JSON can write"),
        ("x: {~: 1}", "this key is neither a text nor a number"),
        ("x: {[a]: 1}", "this key is neither a text nor a number"),
        ("x: !!int abc", '"abc" is not a whole number'),
        ("x: !!binary '###'", "is not base64 of a text"),
        ("x: &a [*a]", 'the value of the anchor "a" contains itself'),
        ("x: *nope", 'the alias "*nope" names no anchor'),
        ("x: {<<: 5}", "takes a map or a list of maps"),
        ("x: {<<: [5]}", "takes a map or a list of maps"),
    ],
)
def test_what_kubectl_refuses_is_refused(text: str, what: str) -> None:
    assert what in fault(text)


def test_a_tab_gets_its_own_remedy() -> None:
    assert fault("a:\n\tb: 1\n").endswith("Indent with spaces instead of tabs.")


def test_a_broken_structure_names_its_line() -> None:
    assert fault("a: 1\nb: [1, 2\nc: 3\n").startswith("a.yaml, line 3: this is not YAML: ")


def test_a_control_character_names_its_line() -> None:
    assert fault("a: 1\nb: \x01\n").startswith("a.yaml, line 2: this is not YAML: ")


def test_nesting_has_a_bound() -> None:
    assert "nested more than" in fault("[" * (DEPTH_MAX + 1))


def test_aliases_cannot_stand_for_an_endless_document() -> None:
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12)]

    assert "with its aliases written out" in fault("\n".join(lines))

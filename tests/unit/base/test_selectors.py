"""Label selectors: text, objects and what they match. The recorded cases cover the fault texts."""

import pytest

from springtide.base.selectors import (
    EVERYTHING,
    NOTHING,
    LabelSelectorRequirement,
    MalformedSelector,
    compile_selector,
    format_label_selector,
    label_selector,
    parse_selector,
)
from springtide.base.selectors.faults import joined, quoted
from springtide.base.selectors.requirement import int64

WEB = {"app": "web", "tier": "2", "in": "notin"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "app",
        "app=web",
        "app == web",
        "app in (web, db)",
        "app notin (db)",
        "absent notin (web)",
        "!absent",
        "absent!=x",
        "tier>1",
        "tier<3",
        "in",
        "in in (notin)",
        "app in (,web)",
        "in=notin,\tapp",
    ],
)
def test_a_text_selects_what_it_describes(text: str) -> None:
    selector = parse_selector(text)

    assert selector.matches(WEB)


@pytest.mark.parametrize(
    "text",
    ["absent", "!app", "app!=web", "app=", "app>1", "tier>2", "tier<2", "absent<3", "app in ()"],
)
def test_a_text_does_not_select_the_rest(text: str) -> None:
    selector = parse_selector(text)

    assert not selector.matches(WEB)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("tier , app", "app,tier"),
        ("app in (b,a,b)", "app in (a,b)"),
        ("app notin (b,,a)", "app notin (,a,b)"),
        ("! app", "!app"),
        ("app==web", "app==web"),
        ("app != web", "app!=web"),
        ("tier > 1", "tier>1"),
        ("tier < 1", "tier<1"),
        ("app=", "app="),
        ("app\x00=web", "app=web"),
        ("app=\x00web", "app=web"),
        ("app= \x00web", "app="),
    ],
)
def test_a_text_has_a_canonical_form(text: str, canonical: str) -> None:
    selector = parse_selector(text)

    assert str(selector) == canonical


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("app in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in (a,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("app in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("app,", "found '', expected: identifier after ','"),
        ("=", "found '=', expected: !, identifier, or 'end of string'"),
        ("!app=x", "found '=', expected: ',' or 'end of string'"),
    ],
)
def test_a_malformed_text_is_refused_in_the_words_of_kubernetes(text: str, reason: str) -> None:
    with pytest.raises(MalformedSelector) as caught:
        parse_selector(text)

    assert caught.value.reason == reason
    assert reason in str(caught.value)


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    missing, empty = compile_selector(None), compile_selector(label_selector({}))

    assert missing == NOTHING
    assert empty == EVERYTHING
    assert not missing.matches({})
    assert not missing.is_empty
    assert empty.matches({})
    assert empty.is_empty


def test_all_parts_of_an_object_must_hold() -> None:
    expression = LabelSelectorRequirement(key="tier", operator="NotIn", values=("1",))
    selector = compile_selector(label_selector({"app": "web"}, [expression]))

    assert selector.matches({"app": "web", "tier": "2"})
    assert selector.matches({"app": "web"})
    assert not selector.matches({"app": "web", "tier": "1"})
    assert not selector.matches({"tier": "2"})


def test_an_object_is_shown_as_kubectl_shows_it() -> None:
    broken = label_selector({}, [LabelSelectorRequirement(key="app", operator="Gt", values=("1",))])

    assert format_label_selector(None) == "<none>"
    assert format_label_selector(broken) == "<error>"
    assert format_label_selector(label_selector({"b": "1", "a": "2"})) == "a=2,b=1"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+4", 4),
        ("-007", -7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("0" * 5000 + "1", 1),
        ("1" * 5000, None),
        ("1_0", None),
        ("1.5", None),
        ("", None),
        ("٣", None),
    ],
)
def test_numbers_are_64_bit_decimals(text: str, number: int | None) -> None:
    assert int64(text) == number


def test_texts_are_quoted_so_that_nothing_hides() -> None:
    assert quoted('ключ "\\\n\x00\u200b\U000e0001') == '"ключ \\"\\\\\\n\\x00\\u200b\\U000e0001"'


def test_repeated_faults_are_told_once() -> None:
    assert joined(["a", "b", "a"]) == "[a, b]"
    assert joined(["a", "a"]) == "a"

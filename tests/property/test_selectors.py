"""Laws of selectors."""

from hypothesis import event, given
from hypothesis import strategies as st

from springtide.base.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    MalformedSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    compile_selector,
    label_selector,
    node_selector_fault,
    parse_selector,
    term_matches,
)

KEYS = st.sampled_from(["app", "tier", "example.com/role", "in", "notin", "num"])
VALUES = st.sampled_from(["", "1", "2", "web", "in", "notin", "A_b-c.d", "007"])
LABELS = st.dictionaries(KEYS, VALUES)
SETS = st.builds(
    LabelSelectorRequirement,
    key=KEYS,
    operator=st.sampled_from(["In", "NotIn"]),
    values=st.lists(VALUES, min_size=1, max_size=3).map(tuple),
)
PRESENCES = st.builds(
    LabelSelectorRequirement, key=KEYS, operator=st.sampled_from(["Exists", "DoesNotExist"])
)
SELECTORS = st.builds(
    label_selector, match_labels=LABELS, match_expressions=st.lists(SETS | PRESENCES, max_size=3)
)
# Texts that are nearly selectors find more than arbitrary ones.
PIECES = st.sampled_from(
    [
        "app",
        "in",
        "notin",
        "=",
        "==",
        "!=",
        "!",
        "(",
        ")",
        ",",
        "<",
        ">",
        " ",
        "1",
        "x-",
        "a/b",
        "\0",
    ]
)
TEXTS = st.lists(PIECES, max_size=10).map("".join) | st.text()
REQUIREMENTS = st.builds(
    NodeSelectorRequirement,
    key=KEYS | st.text(max_size=3),
    operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Bogus"]),
    values=st.lists(VALUES | st.text(max_size=3), max_size=2).map(tuple),
)
TERMS = st.builds(
    NodeSelectorTerm,
    expressions=st.lists(REQUIREMENTS, max_size=2).map(tuple),
    fields=st.lists(REQUIREMENTS, max_size=2).map(tuple),
)


@given(SELECTORS, st.lists(LABELS, max_size=5))
def test_the_canonical_form_of_an_object_reads_back_to_the_same_matches(
    selector: LabelSelector, label_sets: list[dict[str, str]]
) -> None:
    compiled = compile_selector(selector)

    again = parse_selector(str(compiled))

    assert [again.matches(each) for each in label_sets] == [
        compiled.matches(each) for each in label_sets
    ]


@given(TEXTS, st.lists(LABELS, max_size=3))
def test_any_text_is_read_or_called_malformed(text: str, label_sets: list[dict[str, str]]) -> None:
    try:
        selector = parse_selector(text)
    except MalformedSelector:
        event("malformed")
    else:
        again = parse_selector(str(selector))
        assert [again.matches(each) for each in label_sets] == [
            selector.matches(each) for each in label_sets
        ]


@given(TERMS, LABELS, st.sampled_from(["", "1", "web"]))
def test_a_malformed_term_never_matches(
    term: NodeSelectorTerm, labels: dict[str, str], name: str
) -> None:
    fault = node_selector_fault([term])

    matched = term_matches(term, labels, name=name)

    assert fault is None or not matched

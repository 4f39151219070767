"""Whatever stands in a configuration, it is read or refused, and what is read can be judged."""

import gzip
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.framework.profiles import CannotSetUp, set_up
from springtide.wire.kubescheduler import (
    CONSTRUCTION_FAULTS,
    Complaint,
    from_json,
    from_text,
    stated,
    validation_faults,
)

RECORDED = Path(__file__).parents[1] / "recorded" / "kube" / "configurations.jsonl.gz"
KEYS = ("name", "weight", "enabled", "x", "schedulerName", "kind", "apiVersion")

odd_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "*", "-1s", "5", "NodeName", "a/b/c", "é\u2028", "1e400"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2)
    ),
    max_leaves=4,
)


def complete_documents() -> list[Any]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line)["expect"].get("defaulted") for line in lines]
    return [case for case in cases if case is not None]


DOCUMENTS = complete_documents()


def spoilt(value: Any, data: st.DataObject) -> Any:
    """Return the value with something odd in one place inside it."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: spoilt(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 9)):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], spoilt(value[index], data), *value[index + 1 :]]
    return data.draw(odd_values)


def fault_of(text: str, *, is_file: bool = False) -> str | None:
    """Return what is said against a document, None if it is read and can be used."""
    try:
        configuration = from_text(text) if is_file else from_json(text.encode())
        if not validation_faults(configuration):
            set_up(configuration, CONSTRUCTION_FAULTS)
    except (Complaint, CannotSetUp) as fault:
        return fault.text
    return None


@given(document=st.sampled_from(DOCUMENTS), data=st.data())
def test_a_document_with_something_odd_is_read_or_refused(
    document: Any, data: st.DataObject
) -> None:
    text = json.dumps(spoilt(document, data))

    assert fault_of(text) != ""
    assert fault_of(text) == fault_of(text, is_file=True)


@given(text=st.text(alphabet='{}[]":,.-eEabkN1 \n', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert fault_of(text, is_file=True)


@given(document=st.sampled_from(DOCUMENTS))
def test_the_order_of_fields_does_not_matter(document: Any) -> None:
    turned = json.dumps(dict(reversed(document.items())))

    assert stated(turned.encode()) == stated(json.dumps(document).encode())

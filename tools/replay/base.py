"""Recorded answers about quantities, selectors and tolerations, compared with ours.

Each function takes one recorded case and returns the differences as texts; none means equal. Two
fields are not compared: a quantity's `string`, which is a text that Kubernetes happens to have
cached, and the format of JSON null, which it leaves empty. `is_listed_difference` knows the cases in
which we differ on purpose.
"""

from collections.abc import Callable, Mapping
from typing import Any

from springtide.base import quantity, taints
from springtide.base.quantity import MalformedQuantity, Quantity
from springtide.base.selectors import (
    LabelSelectorRequirement,
    MalformedSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Selector,
    any_term_matches,
    compile_selector,
    format_label_selector,
    label_selector,
    node_selector_fault,
    parse_selector,
)
from springtide.base.taints import Taint, Toleration

Case = Mapping[str, Any]

_FIELDS = ("value", "milli", "canonical", "format", "as_int64_ok", "as_int64", "sign", "is_zero")


def replay_quantity(case: Case) -> list[str]:
    """Return where our reading of a quantity differs from the recorded one."""
    expected = case["expect"]
    try:
        ours = _quantity(case)
    except MalformedQuantity as fault:
        return _differences({"error": expected.get("error")}, {"error": fault.reason}, prefix="")
    if "error" in expected:
        return [f"error: recorded {expected['error']!r}, ours accepts it as {ours}"]
    found = _quantity_differences(expected, ours, prefix="")
    if "other" in case:
        found += _arithmetic_differences(expected, ours, quantity.parse(case["other"]))
    return found


def is_listed_difference(case: Case) -> bool:
    """Say whether all differences of a quantity case are of the kinds that we make on purpose.

    These are: an exponent that no quantity can need; value and milli outside 64 bits; and value and
    milli of a negative quantity that Kubernetes holds as a big decimal.
    """
    try:
        ours = _quantity(case)
    except MalformedQuantity as fault:
        return "beyond what any quantity needs" in fault.reason
    quantities = {"": ours}
    if "other" in case:
        other = quantity.parse(case["other"])
        quantities |= {"sum.": ours.add(other), "difference.": ours.subtract(other)}
    allowed = tuple(
        f"{prefix}{field}: "
        for prefix, each in quantities.items()
        for field, unit in (("value", quantity.NANO), ("milli", quantity.NANO // quantity.MILLI))
        if _overflows(each, unit) or (each.nano < 0 and each.scale is None)
    )
    return all(text.startswith(allowed) for text in replay_quantity(case))


def replay_selector(case: Case) -> list[str]:
    """Return where our reading or matching of a selector differs from the recorded one."""
    match case["kind"]:
        case "text":
            return _label_differences(case, lambda: parse_selector(case["text"]))
        case "object":
            return _object_differences(case)
        case "node":
            return _node_differences(case)
        case kind:
            return [f"kind: {kind!r} is unknown"]


def replay_toleration(case: Case) -> list[str]:
    """Return where our tolerating differs from the recorded one."""
    tolerations = [_toleration(each) for each in case["tolerations"]]
    marks = [Taint(**each) for each in case["taints"]]
    ours: dict[str, object] = {}
    for suffix, numeric in (("", False), ("_numeric", True)):
        ours[f"tolerates{suffix}"] = [
            [taints.tolerates(each, mark, numeric=numeric) for mark in marks]
            for each in tolerations
        ]
        ours[f"untolerated{suffix}"] = taints.first_untolerated(marks, tolerations, numeric=numeric)
    return _differences(case["expect"], ours, prefix="")


def _toleration(raw: Case) -> Toleration:
    # How long a toleration lasts has no part in scheduling.
    return Toleration(**{key: value for key, value in raw.items() if key != "tolerationSeconds"})


def _quantity(case: Case) -> Quantity:
    read = quantity.from_json_text if case.get("json") else quantity.parse
    return read(case["text"])


def _overflows(each: Quantity, unit: int) -> bool:
    magnitude = -(-abs(each.nano) // unit)
    return (
        not quantity.INT64_MIN <= (magnitude if each.nano > 0 else -magnitude) <= quantity.INT64_MAX
    )


def _quantity_differences(expected: Case, ours: Quantity, *, prefix: str) -> list[str]:
    integer = ours.as_int64()
    answers = {
        "value": ours.value(),
        "milli": ours.milli(),
        "canonical": ours.canonical(),
        "format": str(ours.format) if expected["format"] else "",
        "as_int64_ok": integer is not None,
        "as_int64": integer,
        "sign": (ours.nano > 0) - (ours.nano < 0),
        "is_zero": ours.nano == 0,
    }
    # Without ok, the recorded integer means nothing.
    recorded = {**expected, "as_int64": expected["as_int64"] if expected["as_int64_ok"] else None}
    return _differences({field: recorded[field] for field in _FIELDS}, answers, prefix=prefix)


def _arithmetic_differences(expected: Case, ours: Quantity, other: Quantity) -> list[str]:
    order = quantity.compare(ours, other)
    return [
        *_differences({"cmp": expected["cmp"]}, {"cmp": order}, prefix=""),
        *_quantity_differences(expected["sum"], ours.add(other), prefix="sum."),
        *_quantity_differences(expected["difference"], ours.subtract(other), prefix="difference."),
    ]


def _object_differences(case: Case) -> list[str]:
    raw = case["selector"]
    selector = (
        raw
        if raw is None
        else label_selector(
            raw.get("matchLabels") or {},
            [
                LabelSelectorRequirement(**_requirement(each))
                for each in raw.get("matchExpressions") or ()
            ],
        )
    )
    found = _label_differences(case, lambda: compile_selector(selector))
    if "formatted" in case["expect"]:
        ours = {"formatted": format_label_selector(selector)}
        found += _differences({"formatted": case["expect"]["formatted"]}, ours, prefix="")
    return found


def _label_differences(case: Case, read: Callable[[], Selector]) -> list[str]:
    try:
        selector = read()
    except MalformedSelector as fault:
        return _differences(case["expect"], {"error": fault.reason}, prefix="")
    ours = {
        "string": str(selector),
        "empty": selector.is_empty,
        "matches": [selector.matches(labels) for labels in case["labels"]],
    }
    expected = {key: value for key, value in case["expect"].items() if key != "formatted"}
    return _differences(expected, ours, prefix="")


def _node_differences(case: Case) -> list[str]:
    terms = [_term(each) for each in case["node_selector"].get("nodeSelectorTerms") or ()]
    fault = node_selector_fault(terms)
    matches: list[dict[str, object]] = []
    for labels, name in zip(case["labels"], case["names"], strict=True):
        is_match = any_term_matches(terms, labels, name=name)
        answer: dict[str, object] = {"match": is_match}
        if fault is None:
            answer["strict_match"] = is_match
        elif not is_match:
            answer["error"] = fault
        matches.append(answer)
    ours: dict[str, object] = {"matches": matches}
    if fault is not None:
        ours["error"] = fault
    return _differences(case["expect"], ours, prefix="")


def _term(raw: Case) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        expressions=_node_requirements(raw.get("matchExpressions")),
        fields=_node_requirements(raw.get("matchFields")),
    )


def _node_requirements(raw: list[Case] | None) -> tuple[NodeSelectorRequirement, ...]:
    return tuple(NodeSelectorRequirement(**_requirement(each)) for each in raw or ())


def _requirement(raw: Case) -> dict[str, Any]:
    return {**raw, "values": tuple(raw.get("values") or ())}


def _differences(
    expected: Mapping[str, object], ours: Mapping[str, object], *, prefix: str
) -> list[str]:
    return [
        f"{prefix}{key}: recorded {expected.get(key)!r}, ours {ours.get(key)!r}"
        for key in sorted({*expected, *ours})
        if expected.get(key) != ours.get(key)
    ]

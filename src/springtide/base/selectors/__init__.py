"""Selectors: which labels, and which nodes, something is about.

Three spellings, one matcher. `parse_selector` reads the text that kubectl's `-l` takes,
`compile_selector` takes the LabelSelector of an API object, and node selector terms match a node's
labels and name. Faults are worded exactly as Kubernetes 1.37 words them.
"""

from springtide.base.selectors.labels import (
    LabelSelector,
    LabelSelectorRequirement,
    compile_selector,
    format_label_selector,
    label_selector,
)
from springtide.base.selectors.nodes import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    any_term_matches,
    node_selector_fault,
    term_faults,
    term_matches,
)
from springtide.base.selectors.requirement import (
    EVERYTHING,
    NOTHING,
    MalformedSelector,
    Operator,
    Requirement,
    Selector,
)
from springtide.base.selectors.text import parse_selector

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "LabelSelector",
    "LabelSelectorRequirement",
    "MalformedSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "Operator",
    "Requirement",
    "Selector",
    "any_term_matches",
    "compile_selector",
    "format_label_selector",
    "label_selector",
    "node_selector_fault",
    "parse_selector",
    "term_faults",
    "term_matches",
]

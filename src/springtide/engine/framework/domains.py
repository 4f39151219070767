"""The domains of node labels: which nodes have a value of a key in common, as codes by row."""

import numpy as np
import numpy.typing as npt

from springtide.engine.framework.label_columns import columns_of
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL

Codes = npt.NDArray[np.intp]


def domains(ledger: Ledger, key: str) -> tuple[Codes, int]:
    """Return the domain of every row, 0 without the label, and how many codes there are."""
    if key == HOSTNAME_LABEL:
        codes = ledger.hostname[: ledger.count].astype(np.intp)
        return codes, len(ledger.known_hostnames)
    by_labelset, count = columns_of(ledger.labelsets).codes(key)
    return by_labelset[ledger.labelset[: ledger.count]], count

"""The domains of node labels: which nodes have a value of a key in common, as codes by row."""

import numpy as np
import numpy.typing as npt

from springtide.engine.framework.label_columns import LabelColumns
from springtide.engine.framework.recent import Recent
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL

Codes = npt.NDArray[np.intp]


class Domains:
    """Domain codes of one ledger after the other. A node without the label has the code 0."""

    def __init__(self) -> None:
        self._columns: Recent[str, LabelColumns] = Recent()

    def of(self, ledger: Ledger, key: str) -> tuple[Codes, int]:
        """Return the domain of every row, and how many codes there are."""
        if key == HOSTNAME_LABEL:
            codes = ledger.hostname[: ledger.count].astype(np.intp)
            return codes, len(ledger.known_hostnames)
        labelsets = ledger.labelsets
        columns = self._columns.get(labelsets, "", lambda: LabelColumns(labelsets))
        by_labelset, count = columns.codes(key)
        return by_labelset[ledger.labelset[: ledger.count]], count

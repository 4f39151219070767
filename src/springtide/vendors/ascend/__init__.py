"""Ascend NPUs as HAMi shares them: whole chips, templates, modules of two, or the soft split.

`ask` and `admission` read pods, `codec` nodes and running pods; `fit` places a pod exactly on one
node, `vector` judges many nodes at once, and a test holds the two together. `topology` chooses among
chips of modules and networks, `preference` among nodes. All kinds of chip are one family, because
HAMi looks for a request's chips among all of a node, by a part of their type.
"""

from typing import Final

from springtide.engine.placement.family import DeviceFamily
from springtide.vendors.ascend.ask import AscendAsk
from springtide.vendors.ascend.config import AscendConfig, config_from
from springtide.vendors.ascend.family import Ascend

FAMILY: Final[DeviceFamily] = Ascend()
"""The family with the chips of HAMi's chart and its default policies."""

__all__ = ["FAMILY", "Ascend", "AscendAsk", "AscendConfig", "config_from"]

"""How a pod writes down that it wants chips: the resources of one kind of chip."""

from collections.abc import Sequence

from springtide.base.quantity import of
from springtide.engine.placement.family import Portion, Spelling
from springtide.engine.placement.filters import type_matches
from springtide.model.refusal import Refusal
from springtide.vendors.ascend.config import FAMILY_NAME, AscendConfig, Chip


def spelled(portion: Portion, config: AscendConfig) -> Spelling | Refusal:
    """Return how a pod asks for these chips; a Refusal if no kind of chip is just these.

    Cores are only shared in the soft split, which is not spelled here.
    """
    chips = _chips(portion.types, config)
    if len(chips) != 1:
        known = ", ".join(chip.word for chip in config.chips)
        return _refused(f"a pod asks for one kind of {FAMILY_NAME} chip: {known}")
    chip = chips[0]
    if portion.cores or (portion.memory_mib and not chip.memory_name):
        return _refused(f"{chip.word} is not parted so")
    # Rounded up, so that no less is asked than is meant.
    memory = -(-portion.memory_mib // max(chip.memory_factor, 1))
    asked = ((chip.count_name, portion.count), (chip.memory_name, memory))
    return Spelling(requests=tuple(sorted((name, of(amount)) for name, amount in asked if amount)))


def _chips(types: Sequence[str], config: AscendConfig) -> list[Chip]:
    """Return the chips of these types: those of exactly the name, or else whose word is in it."""
    exact = [chip for chip in config.chips if chip.word in types]
    return exact or [
        chip
        for chip in config.chips
        if chip.count_name and any(type_matches(chip.word, name) for name in types)
    ]


def _refused(reason: str) -> Refusal:
    return Refusal(rule=FAMILY_NAME, reasons=(reason,), is_unresolvable=True)

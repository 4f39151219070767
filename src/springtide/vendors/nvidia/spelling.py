"""How a pod writes down that it wants cards: container resources and annotations."""

from springtide.base.quantity import of
from springtide.engine.placement.family import Portion, Spelling
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia.ask import AVOID_TYPES, USE_TYPES
from springtide.vendors.nvidia.config import FAMILY_NAME, NvidiaConfig


def spelled(portion: Portion, config: NvidiaConfig) -> Spelling | Refusal:
    """Return how a pod asks for these cards; a Refusal if the configuration has no name for it."""
    # Rounded up, so that no less is asked than is meant.
    memory = -(-portion.memory_mib // max(config.memory_factor, 1))
    asked = (
        ("devices", config.count_name, portion.count),
        ("device memory", config.memory_name, memory),
        ("device cores", config.cores_name, portion.cores),
    )
    for what, name, amount in asked:
        if amount and not name:
            return Refusal(
                rule=FAMILY_NAME,
                reasons=(f"the device configuration of {FAMILY_NAME} has no resource for {what}",),
                is_unresolvable=True,
            )
    requests = tuple(sorted((name, of(amount)) for _, name, amount in asked if amount))
    return Spelling(requests=requests, annotations=_annotations(portion))


def _annotations(portion: Portion) -> tuple[tuple[str, str], ...]:
    """Return what keeps other cards away: a name also matches every longer one that contains it."""
    # Where there are no others, no pod has to say which.
    if not portion.types or not portion.other_types:
        return ()
    names = [name.upper() for name in portion.types]
    longer = [
        other for other in portion.other_types if any(name in other.upper() for name in names)
    ]
    avoid = ((AVOID_TYPES, ",".join(longer)),) if longer else ()
    return (*avoid, (USE_TYPES, ",".join(portion.types)))

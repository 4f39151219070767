"""The variables that stand for one device in expressions.

There is one for each domain that the device has attributes or capacities of, beside the whole maps.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from springtide.model.device_facts import DeviceFacts, SelectorFault
from springtide.wire.cel import values
from springtide.wire.cel.values import Carried

NO_DOMAIN: Final[Mapping[str, Carried]] = {}

_Fact = TypeVar("_Fact")


def domain_variable(field: str, domain: str) -> str:
    """Return the variable that holds one domain of `device.attributes` or `device.capacity`."""
    return f"{field}[{domain}]"


def of_device(device: DeviceFacts) -> Mapping[str, object]:
    """Return a device's variables, or raise SelectorFault."""
    attributes = _by_domain(device.attributes, values.carried, "attribute")
    capacity = _by_domain(device.capacity, values.carried_quantity, "capacity")
    variables: dict[str, object] = {
        "device.driver": device.driver,
        "device.allowMultipleAllocations": device.allows_multiple,
        "device.attributes": attributes,
        "device.capacity": capacity,
    }
    for field, domains in (("device.attributes", attributes), ("device.capacity", capacity)):
        for domain, facts in domains.items():
            variables[domain_variable(field, domain)] = facts
    return variables


def _by_domain(
    facts: Mapping[str, _Fact], carried: Callable[[_Fact], Carried], what: str
) -> dict[str, dict[str, Carried]]:
    domains: dict[str, dict[str, Carried]] = {}
    for name, fact in facts.items():
        domain, _, identifier = name.partition("/")
        try:
            domains.setdefault(domain, {})[identifier] = carried(fact)
        except ValueError as error:
            raise SelectorFault(f"{what} {name}: {error}") from error
    return domains

"""Device selectors of the input that do not compile, where pods wait that claim devices.

A rule meets such a selector device by device and can only fail there; here it is told once, with the
object and the field that it stands in.
"""

from collections.abc import Iterator, Sequence

from springtide.model.problem import Problem
from springtide.model.resource_claims import ClaimContent, Exactly
from springtide.wire.cel import Selectors
from springtide.wire.documents import Input

Placed = tuple[str, str, Sequence[str]]
"""An object, a field of it, and the expressions there."""


def selector_faults(found: Input, selectors: Selectors) -> Iterator[Problem]:
    """Yield the selectors that do not compile, each with the file that its object stands in."""
    if not any(each.spec.device_claims for each in (*found.pods, *found.manifests)):
        return
    for name, path, expressions in _placed(found):
        for index, expression in enumerate(expressions):
            fault = selectors.fault_of(expression)
            if fault is not None:
                yield Problem(
                    source=found.sources.get(name, ""),
                    object=name,
                    field=f"{path}.selectors[{index}].cel.expression",
                    message=f"{fault}. No API server takes this; correct it.",
                )


def _placed(found: Input) -> Iterator[Placed]:
    objects = found.device_objects
    for name, device_class in objects.classes.items():
        yield f"DeviceClass/{name}", "spec", device_class.selectors
    for key, claim in objects.claims.items():
        yield from _of_content(f"ResourceClaim/{key}", "spec", claim.content)
    for key, template in objects.templates.items():
        yield from _of_content(f"ResourceClaimTemplate/{key}", "spec.spec", template.content)


def _of_content(name: str, path: str, content: ClaimContent) -> Iterator[Placed]:
    for index, asked in enumerate(content.requests):
        request = f"{path}.devices.requests[{index}]"
        if isinstance(asked, Exactly):
            yield name, f"{request}.exactly", asked.request.selectors
            continue
        for place, each in enumerate(asked.alternatives):
            yield name, f"{request}.firstAvailable[{place}]", each.selectors

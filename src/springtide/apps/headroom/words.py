"""How asks and devices are called, in reports and by people: short words for long names."""

from typing import Final

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY
from springtide.base.quantity import NANO, Format, Quantity
from springtide.engine.framework.requests import pod_requests
from springtide.model.pod import Pod, PodSpec

_MILLI: Final = NANO // 1000
_LAST: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def requests_of(spec: PodSpec) -> dict[str, str]:
    """Return what a pod of this spec asks, devices first, as a manifest would say it."""
    asked = {name: amount for name, amount in pod_requests(spec).items() if amount}
    return {name: _quantity(name, asked[name]) for name in sorted(asked, key=_place)}


def text_of(requests: dict[str, str]) -> str:
    """Return the requests in the words that `--ask` takes, with blanks for commas."""
    return " ".join(f"{short(name)}={amount}" for name, amount in requests.items()) or "nothing"


def short(resource: str) -> str:
    """Return a resource's name without its domain."""
    return resource.rpartition("/")[2]


def model(family: str, type_name: str) -> str:
    """Return a device type without the family's name that plugins put before it."""
    return type_name.removeprefix(f"{family}-") or family


def slug(text: str) -> str:
    """Return the text in small letters, digits and dashes."""
    words = "".join(sign if sign.isalnum() else " " for sign in text.lower())
    return "-".join(words.split())


def workload(pod: Pod) -> str:
    """Return what the pod is a replica of, as `namespace/name`; a pod without an owner is its own."""
    if pod.owner is None:
        return pod.key
    # A Deployment's ReplicaSets are told apart by a hash that people do not type.
    template_hash = pod.labels.get("pod-template-hash", "")
    return f"{pod.namespace}/{pod.owner.name.removesuffix(f'-{template_hash}')}"


def _place(name: str) -> tuple[int, str]:
    return (_LAST.index(name) + 1 if name in _LAST else 0, name)


def _quantity(name: str, amount: int) -> str:
    if name == CPU:
        return str(Quantity(nano=amount * _MILLI))
    is_bytes = name in _LAST or name.startswith("hugepages-")
    if not is_bytes:
        return str(amount)
    return str(Quantity(nano=amount * NANO, format=Format.BINARY_SI))

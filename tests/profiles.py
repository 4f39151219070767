"""Device profiles as documents and records, for tests; each builder takes only what a test is about."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from springtide.model.profile import StoredProfile
from springtide.wire import yaml
from springtide.wire.crd.profiles import decode_stored_profile

Document = dict[str, Any]

DEFINITION: Final = (
    Path(__file__).parents[1] / "deploy" / "crds" / "deviceprofiles.springtide.io.yaml"
)
POOL: Final = {"pool": "a"}
CARDS: Final[Document] = {
    "vendor": "NVIDIA", "count": 2, "slots": 10, "memoryMiB": 24576, "type": "NVIDIA-A10",
}  # fmt: skip
SHAPE: Final[Document] = {
    "name": "1g.5gb", "memoryMB": 4864, "core": 15, "sliceCount": 1,
    "placements": [{"start": 6, "size": 1}],
}  # fmt: skip


def definition() -> Any:
    """Return the definition of the resource, as it is deployed."""
    (found,) = yaml.documents(DEFINITION.read_bytes(), DEFINITION.name)
    return found.value


def document(name: str = "a10", **spec: Any) -> Document:
    """Return a profile of nodes with two cards."""
    return {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "DeviceProfile",
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": POOL}, "devices": [CARDS], **spec},
    }


def stored(
    name: str = "a10", *, generation: int = 1, status: Document | None = None, **spec: Any
) -> StoredProfile:
    """Return a profile as it is read from the cluster."""
    made = document(name, **spec)
    if status is not None:
        made["status"] = status
    return as_stored(made, generation=generation)


def as_stored(made: Document, *, generation: int = 1) -> StoredProfile:
    """Return a document as it is read once it is stored."""
    name = made["metadata"]["name"]
    metadata = {"uid": f"uid-{name}", "generation": generation, "resourceVersion": "7"}
    kept = {**made, "metadata": {**made["metadata"], **metadata}}
    return decode_stored_profile(msgspec.Raw(msgspec.json.encode(kept)))


def _with(**fields: Any) -> Document:
    return document(devices=[{**CARDS, **fields}])


def _selecting(**fields: Any) -> Document:
    return document(nodeSelector=fields)


def _expressing(**fields: Any) -> Document:
    return _selecting(matchExpressions=[{"key": "pool", "operator": "Exists", **fields}])


def good() -> Iterator[tuple[str, Document]]:
    """Yield documents that everybody accepts, each under what it is about."""
    yield "the least", document()
    yield "a name with dots", document("a10.8x")
    yield "one numa node for all", _with(numa=[1])
    yield "a numa node a device", _with(numa=[0, 1])
    yield "an unknown numa node", _with(numa=[-1])
    yield "no list of numa nodes", _with(numa=[])
    yield "networks", _with(network=[0, 3])
    yield "scores", _with(links=[[0, 40], [40, 0]])
    yield "shapes", _with(mode="mig", migGeometries=[SHAPE])
    yield "mps", _with(mode="mps")
    yield "sizes of nothing", _with(memoryMiB=0, slots=0, cores=0)
    yield "the largest size", _with(memoryMiB=2**31 - 1)
    yield "all devices of a node", _with(count=1024)
    yield "several entries", document(devices=[CARDS, {**CARDS, "vendor": "Ascend"}])
    yield "every choice", document(homogeneity="Majority", onMismatch="Adopt")
    yield "a short timeout", document(registrationTimeout="500ms")
    yield "a long timeout", document(registrationTimeout="1h30m5.5s")
    yield "a timeout with a sign", document(registrationTimeout="+10m")
    yield "a label with a prefix", _selecting(matchLabels={"node.kubernetes.io/type": "p4de.24"})
    yield "a label without a value", _selecting(matchLabels={"pool": ""})
    yield "an expression", _expressing()
    yield "values", _expressing(operator="In", values=["a", "b"])
    yield "no values", _expressing(operator="DoesNotExist", values=[])


def bad() -> Iterator[tuple[str, Document]]:
    """Yield documents that nobody accepts, each under what is wrong with it."""
    yield from _bad_devices()
    yield from _bad_rest()


def _bad_devices() -> Iterator[tuple[str, Document]]:
    yield "no devices", document(devices=[])
    yield "no device", _with(count=0)
    yield "too many devices", _with(count=1025)
    yield "too many devices together", document(devices=[{**CARDS, "count": 600}] * 2)
    yield "too many entries", document(devices=[{**CARDS, "count": 1}] * 65)
    yield "a negative memory", _with(memoryMiB=-1)
    yield "a negative slot", _with(slots=-1)
    yield "a negative core", _with(cores=-1)
    yield "more memory than can be registered", _with(memoryMiB=2**31)
    yield "a memory in words", _with(memoryMiB="80Gi")
    yield "a broken memory", _with(memoryMiB=1.5)
    yield "more numa nodes than devices", _with(numa=[0, 0, 1])
    yield "fewer numa nodes than devices", _with(count=3, numa=[0, 1])
    yield "a numa node that is no list", _with(numa=0)
    yield "a numa node below unknown", _with(numa=[-2])
    yield "more networks than devices", _with(network=[0, 0, 1])
    yield "a negative network", _with(network=[-1])
    yield "scores of too few devices", _with(links=[[0, 40]])
    yield "scores with a short row", _with(links=[[0, 40], [40]])
    yield "a negative score", _with(links=[[0, -1], [40, 0]])
    yield "an unknown vendor", _with(vendor="Nvidia")
    yield "no vendor", _with(vendor="")
    yield "no type", _with(type="")
    yield "an unknown mode", _with(mode="mgi")
    yield "mig without shapes", _with(mode="mig")
    yield "shapes without mig", _with(migGeometries=[SHAPE])
    yield "a shape without a place", _with(mode="mig", migGeometries=[{**SHAPE, "placements": []}])
    yield "a shape without a name", _with(mode="mig", migGeometries=[{**SHAPE, "name": ""}])
    yield "a shape without memory", _with(mode="mig", migGeometries=[{**SHAPE, "memoryMB": 0}])
    yield "a misspelt field", _with(memory=1)


def _bad_rest() -> Iterator[tuple[str, Document]]:
    yield "a name with capitals", document("A10")
    yield "a name with a gap", document("a 10")
    yield "a misspelt field of the spec", document(onMissmatch="Report")
    yield "an unknown choice", document(homogeneity="Strikt")
    yield "an unknown consequence", document(onMismatch="Ignore")
    yield "a timeout in words", document(registrationTimeout="soon")
    yield "a timeout without a unit", document(registrationTimeout="10")
    yield "a timeout of nothing", document(registrationTimeout="0s")
    yield "a negative timeout", document(registrationTimeout="-10m")
    yield "a timeout in days", document(registrationTimeout="1d")
    yield "every node", _selecting()
    yield "every node by no labels", _selecting(matchLabels={})
    yield "a label that is none", _selecting(matchLabels={"a b": "c"})
    yield "a label with two prefixes", _selecting(matchLabels={"a/b/c": "d"})
    yield "a value that is none", _selecting(matchLabels={"pool": "a b"})
    yield "a long value", _selecting(matchLabels={"pool": "a" * 64})
    yield "a long prefix", _expressing(key=f"{'a' * 254}/b")
    yield "an unknown operator", _expressing(operator="Maybe")
    yield "an operator without values", _expressing(operator="In")
    yield "an operator with needless values", _expressing(values=["a"])
    yield "a key that is none", _expressing(key="-pool")
    yield "no selector", {**document(), "spec": {"devices": [CARDS]}}

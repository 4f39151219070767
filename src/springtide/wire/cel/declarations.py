"""What an expression may use, for the checker: the device and the functions of Kubernetes.

A signature is written as the library writes it. Some functions of ours have names that the library
knows already, for other types; these are merged in `environment`.
"""

from collections.abc import Mapping
from typing import Final

DEVICE_FIELDS: Final[Mapping[str, str]] = {
    "driver": "string",
    "attributes": "map<string,map<string,dyn>>",
    "capacity": "map<string,map<string,kubernetes.Quantity>>",
    "allowMultipleAllocations": "bool",
}

# Of the library's own: what Kubernetes 1.37 has, and `regex`, to which `find` is reduced.
CHECKED_EXTENSIONS: Final = (
    "bindings", "lists", "optional", "sets", ("strings", 2), "two-var-comprehensions",
)  # fmt: skip
COMPUTED_EXTENSIONS: Final = (*CHECKED_EXTENSIONS, "regex")

_QUANTITY: Final = "kubernetes.Quantity"
_VERSION: Final = "kubernetes.Semver"
_NUMBERS: Final = ("int", "uint", "double")
_COMPARABLE: Final = (*_NUMBERS, "bool", "string", "bytes")

_SIGNATURES: Final[tuple[tuple[str, str], ...]] = (
    ("quantity(string)", _QUANTITY),
    ("isQuantity(string)", "bool"),
    (f"sign({_QUANTITY})", "int"),
    (f"{_QUANTITY}.isInteger()", "bool"),
    (f"{_QUANTITY}.asInteger()", "int"),
    (f"{_QUANTITY}.asApproximateFloat()", "double"),
    (f"{_QUANTITY}.add({_QUANTITY})", _QUANTITY),
    (f"{_QUANTITY}.add(int)", _QUANTITY),
    (f"{_QUANTITY}.sub({_QUANTITY})", _QUANTITY),
    (f"{_QUANTITY}.sub(int)", _QUANTITY),
    ("semver(string)", _VERSION),
    ("semver(string,bool)", _VERSION),
    ("isSemver(string)", "bool"),
    ("isSemver(string,bool)", "bool"),
    *((f"{_VERSION}.{part}()", "int") for part in ("major", "minor", "patch")),
    *((f"{kind}.isGreaterThan({kind})", "bool") for kind in (_QUANTITY, _VERSION)),
    *((f"{kind}.isLessThan({kind})", "bool") for kind in (_QUANTITY, _VERSION)),
    *((f"{kind}.compareTo({kind})", "int") for kind in (_QUANTITY, _VERSION)),
    *((f"list<{kind}>.isSorted()", "bool") for kind in (*_COMPARABLE, "duration", "timestamp")),
    *((f"list<{kind}>.{name}()", kind) for name in ("min", "max") for kind in _COMPARABLE),
    *((f"list<{kind}>.sum()", kind) for kind in _NUMBERS),
    ("dyn.includes(dyn)", "bool"),
    ("string.find(string)", "string"),
    ("string.findAll(string)", "list<string>"),
    ("string.findAll(string,int)", "list<string>"),
)


def checked_configuration() -> str:
    """Return the declarations as the library's YAML."""
    lines = [*_extensions(CHECKED_EXTENSIONS), "variables:"]
    for name, kind in DEVICE_FIELDS.items():
        lines += [f"  - name: device.{name}", f"    type: {kind}"]
    lines.append("functions:")
    for function, signatures in _by_function().items():
        lines += [f"  - name: {function}", "    overloads:"]
        for index, (signature, result) in enumerate(signatures):
            lines += [
                f"      - id: kubernetes_{function}_{index}",
                f"        signature: {signature}",
                f"        return: {result}",
            ]
    return "\n".join(lines)


def computed_configuration() -> str:
    """Return the extensions of the environment that computes, as the library's YAML."""
    return "\n".join(_extensions(COMPUTED_EXTENSIONS))


def _extensions(extensions: tuple[str | tuple[str, int], ...]) -> list[str]:
    lines = ["name: device-selectors", "extensions:"]
    for extension in extensions:
        if isinstance(extension, str):
            lines.append(f"  - name: {extension}")
        else:
            lines += [f"  - name: {extension[0]}", f"    version: {extension[1]}"]
    return lines


def _by_function() -> dict[str, list[tuple[str, str]]]:
    functions: dict[str, list[tuple[str, str]]] = {}
    for signature, result in _SIGNATURES:
        name = signature[: signature.index("(")].rpartition(".")[2]
        functions.setdefault(name, []).append((signature, result))
    return functions

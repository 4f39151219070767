"""What makes a label key or a label value valid.

A key is an optional DNS prefix and a name, `example.com/role`; a value may be empty. Faults are
returned in the words of the Kubernetes API, because its clients already match on them.
"""

import re
from typing import Final

NAME_BYTES_MAX: Final = 63
PREFIX_BYTES_MAX: Final = 253
VALUE_BYTES_MAX: Final = 63

_NAME_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORMAT: Final = f"({_NAME_FORMAT})?"
_DNS_LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORMAT: Final = rf"{_DNS_LABEL_FORMAT}(\.{_DNS_LABEL_FORMAT})*"

_NAME: Final = re.compile(_NAME_FORMAT)
_VALUE: Final = re.compile(_VALUE_FORMAT)
_SUBDOMAIN: Final = re.compile(_SUBDOMAIN_FORMAT)

_NAME_FAULT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_NAME_FORMAT}')"
)
_KEY_FAULT: Final = (
    f"a valid label key {_NAME_FAULT} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_VALUE_FAULT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '{_VALUE_FORMAT}')"
)
_SUBDOMAIN_FAULT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', "
    f"regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)


def is_subdomain(name: str) -> bool:
    """Return whether an object without a stricter rule may have this name."""
    return len(name) <= PREFIX_BYTES_MAX and _SUBDOMAIN.fullmatch(name) is not None


def key_faults(key: str) -> tuple[str, ...]:
    """Return what is wrong with a label key, nothing if it is valid."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (_KEY_FAULT,)
    prefix_faults = _prefix_faults(prefix) if slash else ()
    return (
        *(f"prefix part {fault}" for fault in prefix_faults),
        *(f"name part {fault}" for fault in _name_faults(name)),
    )


def value_faults(value: str) -> tuple[str, ...]:
    """Return what is wrong with a label value, nothing if it is valid."""
    faults = []
    if _byte_count(value) > VALUE_BYTES_MAX:
        faults.append(f"must be no more than {VALUE_BYTES_MAX} bytes")
    if _VALUE.fullmatch(value) is None:
        faults.append(_VALUE_FAULT)
    return tuple(faults)


def _prefix_faults(prefix: str) -> tuple[str, ...]:
    if not prefix:
        return ("must be non-empty",)
    faults = []
    if _byte_count(prefix) > PREFIX_BYTES_MAX:
        faults.append(f"must be no more than {PREFIX_BYTES_MAX} bytes")
    if _SUBDOMAIN.fullmatch(prefix) is None:
        faults.append(_SUBDOMAIN_FAULT)
    return tuple(faults)


def _name_faults(name: str) -> tuple[str, ...]:
    faults = []
    if not name:
        faults.append("must be non-empty")
    elif _byte_count(name) > NAME_BYTES_MAX:
        faults.append(f"must be no more than {NAME_BYTES_MAX} bytes")
    if _NAME.fullmatch(name) is None:
        faults.append(_NAME_FAULT)
    return tuple(faults)


def _byte_count(text: str) -> int:
    # A lone surrogate cannot come from valid JSON, but must not make validation fail.
    return len(text.encode("utf-8", "surrogatepass"))

"""What compiling an expression gives; these records do not need the library."""

from collections.abc import Callable, Mapping

import msgspec


class Program(msgspec.Struct, frozen=True):
    """A compiled expression: its answer for given variables, and the variables that it reads.

    `evaluate` raises SelectorFault.
    """

    evaluate: Callable[[Mapping[str, object]], bool]
    variables: tuple[str, ...]


class Refused(msgspec.Struct, frozen=True):
    """An expression that does not compile, and why."""

    reason: str

"""The library's two environments: one that checks expressions, one that computes them.

Importing this module loads the library, so nothing may import it before there is an expression.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from springtide.wire.cel import declarations, lists, values
from springtide.wire.cel.building import FAULT
from springtide.wire.cel.rewriting import LIMITED

_T: Final = cel.Type
BOOL: Final = cel.Type.BOOL
_NUMBERS: Final = (_T.INT, _T.UINT, _T.DOUBLE)
_SCALARS: Final = (
    _T.BOOL, _T.INT, _T.UINT, _T.DOUBLE, _T.STRING, _T.BYTES, _T.DURATION, _T.TIMESTAMP,
)  # fmt: skip
_ANY_KIND: Final = (*_SCALARS, _T.LIST, _T.MAP, _T.NULL)
_KEYS: Final = (_T.BOOL, _T.INT, _T.UINT, _T.STRING)
_COMPARISONS: Final = ("_<_", "_<=_", "_>_", "_>=_")


@lru_cache(maxsize=1)
def checker() -> cel.Env:
    """Return the environment that says whether an expression makes sense; it computes nothing."""
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(declarations.checked_configuration()),
        extensions=[cel.CelExtension("kubernetes", _merged_declarations())],
    )


@lru_cache(maxsize=1)
def computer() -> cel.Env:
    """Return the environment that computes rewritten trees; it checks nothing."""
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(declarations.computed_configuration()),
        extensions=[cel.CelExtension("kubernetes", _implementations())],
    )


def is_error(value: cel.Value) -> bool:
    """Return whether the evaluation ended with an error."""
    return bool(value.type() == _T.ERROR)


def _merged_declarations() -> list[cel.FunctionDecl]:
    searches = [
        cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    f"kubernetes_{name}_{index}", _T.INT, [_T.List(kind), kind], is_member=True
                )
                for index, kind in enumerate(_SCALARS)
            ],
        )
        for name in ("indexOf", "lastIndexOf")
    ]
    return searches + [cel.FunctionDecl(name, _mixed_overloads(name)) for name in _COMPARISONS]


def _mixed_overloads(name: str) -> list[cel.Overload]:
    """Let numbers of different types be compared, which the library computes but does not declare."""
    pairs = [(left, right) for left in _NUMBERS for right in _NUMBERS if left != right]
    return [
        cel.Overload(f"mixed_{name}_{index}", _T.BOOL, list(pair), is_member=False)
        for index, pair in enumerate(pairs)
    ]


def _implementations() -> list[cel.FunctionDecl]:
    functions: dict[str, list[cel.Overload]] = {}
    for index, (name, is_member, kinds, result, implementation) in enumerate(_table()):
        overload = cel.Overload(f"{name}_{index}", result, list(kinds), is_member, implementation)
        functions.setdefault(name, []).append(overload)
    return [cel.FunctionDecl(name, overloads) for name, overloads in functions.items()]


_Row = tuple[str, bool, tuple[cel.Type, ...], cel.Type, Callable[..., Any]]


def _table() -> list[_Row]:
    carried = _T.BYTES
    return [
        ("quantity", False, (_T.STRING,), carried, values.quantity),
        ("isQuantity", False, (_T.STRING,), _T.BOOL, values.is_quantity),
        ("semver", False, (_T.STRING,), carried, values.carried_version),
        ("semver", False, (_T.STRING, _T.BOOL), carried, values.carried_version),
        ("isSemver", False, (_T.STRING,), _T.BOOL, values.is_version),
        ("isSemver", False, (_T.STRING, _T.BOOL), _T.BOOL, values.is_version),
        ("sign", False, (carried,), _T.INT, values.sign),
        ("compareTo", True, (carried, carried), _T.INT, values.compare),
        ("isGreaterThan", True, (carried, carried), _T.BOOL, values.is_greater),
        ("isLessThan", True, (carried, carried), _T.BOOL, values.is_less),
        ("isInteger", True, (carried,), _T.BOOL, values.is_integer),
        ("asInteger", True, (carried,), _T.INT, values.as_integer),
        ("asApproximateFloat", True, (carried,), _T.DOUBLE, values.as_float),
        ("add", True, (carried, carried), carried, values.add),
        ("add", True, (carried, _T.INT), carried, values.add),
        ("sub", True, (carried, carried), carried, values.subtract),
        ("sub", True, (carried, _T.INT), carried, values.subtract),
        ("major", True, (carried,), _T.INT, values.major),
        ("minor", True, (carried,), _T.INT, values.minor),
        ("patch", True, (carried,), _T.INT, values.patch),
        ("isSorted", True, (_T.LIST,), _T.BOOL, lists.is_sorted),
        ("sum", True, (_T.LIST,), _T.DYN, lists.total),
        ("min", True, (_T.LIST,), _T.DYN, lists.smallest),
        ("max", True, (_T.LIST,), _T.DYN, lists.largest),
        *(("indexOf", True, (_T.LIST, kind), _T.INT, lists.index_of) for kind in _ANY_KIND),
        *(
            ("lastIndexOf", True, (_T.LIST, kind), _T.INT, lists.last_index_of)
            for kind in _ANY_KIND
        ),
        # The library declares these two for its own macros, and lacks them when it computes.
        *(
            ("cel.@mapInsert", False, (_T.MAP, key, kind), _T.MAP, lists.with_entry)
            for key in _KEYS
            for kind in _ANY_KIND
        ),
        ("cel.@mapInsert", False, (_T.MAP, _T.MAP), _T.MAP, lists.with_entries),
        (LIMITED, False, (_T.LIST, _T.INT), _T.LIST, lists.limited),
        (FAULT, False, (_T.STRING,), _T.BOOL, _fail),
    ]


def _fail(reason: str) -> bool:
    raise ValueError(reason)

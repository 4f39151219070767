"""The text form of label selectors, as kubectl's `-l` takes it: `app=web,tier in (a,b),!old`.

The reader follows Kubernetes' own grammar, oddities included: `in` and `notin` are words that may
also be keys and values, an empty place in a list is an empty value, and `>` and `<` compare numbers.
"""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from springtide.base.selectors import faults
from springtide.base.selectors.requirement import (
    MalformedSelector,
    Operator,
    Requirement,
    Selector,
    key_faults,
    ordered,
    requirement_faults,
)

TEXT_CACHE_ENTRIES: Final = 4096

_END: Final = "end"
_WORD: Final = "word"
_KEYWORDS: Final = ("in", "notin")
_BINARY: Final = {
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
}
_BINARY_NAMES: Final = "in, notin, =, ==, !=, gt, lt"

# A zero byte separates, and ends the text where a token would start: the original reads it as its
# own end mark.
_TOKEN: Final = re.compile(
    r"[ \t\r\n]*+(?:(?P<symbol>==|!=|[=!(),<>])|(?P<word>[^ \t\r\n=!(),<>\x00]++))\x00?+"
)


class _Token(Struct, frozen=True, gc=False):
    kind: str
    text: str

    @property
    def as_value(self) -> str:
        """Return the kind where keys and values may stand: keywords are words there."""
        return _WORD if self.kind in _KEYWORDS else self.kind


@lru_cache(maxsize=TEXT_CACHE_ENTRIES)
def parse_selector(text: str) -> Selector:
    """Read a selector, or raise MalformedSelector; an empty text matches everything."""
    return ordered(_Reader(_tokens(text)).requirements())


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], 0
    while (matched := _TOKEN.match(text, position)) is not None:
        word = matched["symbol"] or matched["word"]
        is_plain = matched["word"] is not None and word not in _KEYWORDS
        tokens.append(_Token(_WORD if is_plain else word, word))
        position = matched.end()
    tokens.append(_Token(_END, ""))
    return tokens


class _Reader:
    """Walks over the tokens once; the end token is never passed."""

    __slots__ = ("_position", "_tokens")

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        if self._peek().kind == _END:
            return found
        if not self._starts_requirement():
            raise MalformedSelector(
                f"found '{self._peek().text}', expected: !, identifier, or 'end of string'"
            )
        while True:
            try:
                found.append(self._requirement())
            except MalformedSelector as fault:
                reason = f"unable to parse requirement: {fault.reason}"
                raise MalformedSelector(reason) from fault
            token = self._take()
            if token.kind == _END:
                return found
            if token.kind != ",":
                raise MalformedSelector(f"found '{token.text}', expected: ',' or 'end of string'")
            if not self._starts_requirement():
                raise MalformedSelector(
                    f"found '{self._peek().text}', expected: identifier after ','"
                )

    def _starts_requirement(self) -> bool:
        return self._peek().as_value in (_WORD, "!")

    def _requirement(self) -> Requirement:
        token = self._take()
        is_negated = token.kind == "!"
        if is_negated:
            token = self._take()
        if token.as_value != _WORD:
            raise _unexpected(token, "identifier")
        key = token.text
        # The original has no path for a key that it reads from text.
        _refuse(key_faults(key, path="<nil>"))
        if is_negated:
            return Requirement(key=key, operator=Operator.DOES_NOT_EXIST)
        if self._peek().kind in (_END, ","):
            return Requirement(key=key, operator=Operator.EXISTS)
        operator = self._operator()
        in_list = operator in (Operator.IN, Operator.NOT_IN)
        values = self._list() if in_list else (self._single(),)
        requirement = Requirement(key=key, operator=operator, values=values)
        _refuse(requirement_faults(requirement))
        return requirement

    def _operator(self) -> Operator:
        token = self._take()
        if token.kind not in _BINARY:
            raise _unexpected(token, _BINARY_NAMES)
        return _BINARY[token.kind]

    def _single(self) -> str:
        if self._peek().kind in (_END, ","):
            return ""
        token = self._take()
        if token.as_value != _WORD:
            raise _unexpected(token, "identifier")
        return token.text

    def _list(self) -> tuple[str, ...]:
        opening = self._take()
        if opening.kind != "(":
            raise MalformedSelector(f"found '{opening.text}' expected: '('")
        if self._peek().kind == ")":
            self._take()
            return ("",)
        if self._peek().as_value not in {_WORD, ","}:
            raise _unexpected(self._peek(), "',', ')' or identifier")
        return tuple(sorted(self._list_values()))

    def _list_values(self) -> set[str]:
        values: set[str] = set()
        while (token := self._take()).kind != ")":
            if token.as_value == _WORD:
                values.add(token.text)
                if self._peek().kind not in {",", ")"}:
                    raise _unexpected(self._peek(), "',' or ')'")
            elif token.kind == ",":
                if not values or self._peek().kind in {",", ")"}:
                    values.add("")
            else:
                raise _unexpected(token, "',', or identifier")
        return values

    def _peek(self) -> _Token:
        return self._tokens[self._position]

    def _take(self) -> _Token:
        token = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token


def _unexpected(token: _Token, expected: str) -> MalformedSelector:
    return MalformedSelector(f"found '{token.text}', expected: {expected}")


def _refuse(found: tuple[str, ...]) -> None:
    if found:
        raise MalformedSelector(faults.joined(found))

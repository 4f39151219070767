"""Pair scores: how well each device is linked to each other one, as opaque whole numbers."""

from springtide.wire.hami.document import elements, parse

Links = tuple[tuple[str, int], ...]


def decode(text: str) -> tuple[tuple[str, Links], ...]:
    """Return device id and its scores towards other ids, in order, or raise Malformed."""
    document = parse(text)
    if document is None:
        return ()
    return tuple(
        (fields.text("uuid"), fields.numbers("score")) for fields in elements(document, "")
    )

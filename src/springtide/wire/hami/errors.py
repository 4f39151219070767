"""The one fault of this room.

SpringtideError
└── Malformed   a text is not what its annotation promises: the message keeps HAMi's words
"""

from springtide.base.errors import SpringtideError


class Malformed(SpringtideError):
    """An annotation's value cannot be read; nothing of it was used."""

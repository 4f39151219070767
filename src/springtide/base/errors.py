"""The root of every fault that Springtide raises on purpose.

Callers that want to catch "something Springtide refused to do" catch this one class; a subclass says
which fault it was and what the caller can do about it. Bugs are assertions and never derive from it.
"""


class SpringtideError(Exception):
    """A fault with a message that a person can act on."""

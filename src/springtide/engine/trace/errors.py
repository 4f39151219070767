"""Faults of traces that can be read but not replayed."""

from springtide.base.errors import SpringtideError


class UnusableTrace(SpringtideError):
    """Nodes, pods, order and ratio do not go together; the message says what to change."""

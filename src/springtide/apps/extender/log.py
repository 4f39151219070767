"""What the process tells of itself: one event with its facts, by names that stay."""

from springtide.edge.lines import Log

__all__ = ["Log"]

"""A whole scheduling attempt: filters, nominated pods, what evictions would change, the text.

`attempt` makes one, `explained` is the form for programs, `event_text` what fits into an event.
"""

from springtide.engine.attempt.attempt import Attempt, Outcome, Setting, attempt, event_text
from springtide.engine.attempt.explanation import Explanation, explained
from springtide.engine.attempt.post_filter import Code, PostFilter

__all__ = [
    "Attempt",
    "Code",
    "Explanation",
    "Outcome",
    "PostFilter",
    "Setting",
    "attempt",
    "event_text",
    "explained",
]

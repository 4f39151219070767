"""Parts of sentences about counts and reasons."""

from collections.abc import Sequence

from springtide.model.refusal import Refusal


def with_detail(refusal: Refusal) -> str:
    """Return a reason with its numbers."""
    text, detail = refusal.text, refusal.detail
    if not detail:
        return text
    return f"{text} ({detail})" if ": " in text else f"{text}: {detail}"


def counted(count: int, noun: str) -> str:
    """Return so many things: `1 pod`, `2 pods`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def are(count: int, noun: str) -> str:
    """Return that so many things are: `1 pod is`, `2 pods are`."""
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def fit(count: int) -> str:
    """Return the verb for so many things."""
    return "fits" if count == 1 else "fit"


def joined(parts: Sequence[str]) -> str:
    """Return the parts as one: `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

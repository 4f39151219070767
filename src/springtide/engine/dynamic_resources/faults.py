"""What ends a search that cannot be decided: kube-scheduler aborts the attempt with an error."""

from springtide.base.errors import SpringtideError


class AllocationFault(SpringtideError):
    """The claims cannot be judged on this node; the message says which request, and why."""


class SearchTooLong(SpringtideError):
    """The search has taken more steps than it may."""

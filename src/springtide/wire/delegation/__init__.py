"""What an aggregated API server takes over from, and asks, the API server before it answers.

`front_proxy` reads whom the front proxy may be and whom it speaks for, `reviews` are the questions who has a
token and who may do what. It trusts nobody: whether a certificate is one of the front proxy is for TLS to say.
"""

from springtide.wire.delegation.front_proxy import (
    CONFIG_MAP_PATH,
    FrontProxy,
    read_front_proxy,
    user_of_headers,
)
from springtide.wire.delegation.reviews import (
    ACCESS_REVIEWS_PATH,
    TOKEN_REVIEWS_PATH,
    Attributes,
    Verdict,
    access_review,
    read_access_review,
    read_token_review,
    token_review,
)
from springtide.wire.delegation.user import MASTERS, User

__all__ = [
    "ACCESS_REVIEWS_PATH",
    "CONFIG_MAP_PATH",
    "MASTERS",
    "TOKEN_REVIEWS_PATH",
    "Attributes",
    "FrontProxy",
    "User",
    "Verdict",
    "access_review",
    "read_access_review",
    "read_front_proxy",
    "read_token_review",
    "token_review",
    "user_of_headers",
]

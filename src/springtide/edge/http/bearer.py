"""Tokens that are kept in files and renewed there, as those of service accounts: read anew for every call."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from springtide.edge.http.errors import Unusable

TOKEN_BYTES_MAX: Final = 64 << 10


def bearer(path: str) -> Mapping[str, str]:
    """Return the header that shows the token of a file, none if no file is named; or raise Unusable."""
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            token = file.read(TOKEN_BYTES_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        why = f"The token in {path} cannot be read: {fault}. Mount it, or correct tokenFile."
        raise Unusable("", why) from fault
    return {"Authorization": f"Bearer {token}"}

"""Where the service is, and how its client shows who it is."""

import ssl
from pathlib import Path

import msgspec

from springtide.edge.http import client_context
from springtide.model.scheduler import ExtenderTLSConfig


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The address, the authority of its certificate, and a certificate or a token of ours.

    A token file is read for every call, since the tokens of pods are renewed. A call with its retries takes
    `timeout_s` at most, and is made `tries_max` times.
    """

    url: str
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    token: str = ""
    token_file: str = ""
    timeout_s: float = 10.0
    tries_max: int = 3

    def context(self) -> ssl.SSLContext:
        """Return how servers are checked and which certificate is shown, or raise edge.http.Unusable."""
        return client_context(
            ExtenderTLSConfig(
                ca_file=self.ca_file, cert_file=self.cert_file, key_file=self.key_file
            )
        )

    def headers(self) -> dict[str, str]:
        """Return what every call says of us."""
        token = self.token
        if self.token_file:
            token = Path(self.token_file).read_text(encoding="utf-8").strip()
        return {"Authorization": f"Bearer {token}"} if token else {}

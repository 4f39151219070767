"""Who we are to etcd: a token that a password was shown for, and certificates that may be renewed."""

import asyncio
from pathlib import Path
from typing import Final

from springtide.edge.store.errors import Denied
from springtide.edge.store.etcd.access import EtcdAccess
from springtide.edge.store.etcd.shapes import Fields

PASSWORD_BYTES_MAX: Final = 64 << 10


class Credentials:
    """The token in use, if any, and when the files of certificates were written."""

    def __init__(self, access: EtcdAccess) -> None:
        self._access = access
        self.token = ""
        self.renewing = asyncio.Lock()
        self._written = self._times()

    def shown(self) -> Fields:
        """Return what is shown for a token, or raise Denied."""
        path = self._access.password_file
        try:
            with Path(path).open("rb") as file:
                password = file.read(PASSWORD_BYTES_MAX).decode().strip("\r\n")
        except (OSError, UnicodeDecodeError) as fault:
            why = f"The password in {path} cannot be read: {fault}. Mount it, or correct its name."
            raise Denied(why) from fault
        return {"name": self._access.user, "password": password}

    def are_new(self) -> bool:
        """Return whether certificates were written since this was asked."""
        before, self._written = self._written, self._times()
        return before != self._written

    def _times(self) -> tuple[int, ...]:
        tls = self._access.tls
        files = (tls.ca_file, tls.cert_file, tls.key_file) if tls else ()
        return tuple(_time(Path(each)) for each in files if each)


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0

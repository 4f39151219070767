"""The generation that was applied, in a file that outlives the executor: an older one never counts again."""

from pathlib import Path
from typing import Final

import msgspec

from springtide.base.errors import SpringtideError
from springtide.edge import files

NAME: Final = "applied.json"


class Unremembered(SpringtideError):
    """The file is there and does not say what was applied."""


class _Document(msgspec.Struct, frozen=True):
    generation: int


class Applied:
    """Reads and writes the file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def read(self) -> int:
        """Return the generation, 0 if nothing was ever applied; or raise Unremembered."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Document).generation
        except FileNotFoundError:
            return 0
        except (OSError, msgspec.DecodeError) as fault:
            raise Unremembered(
                f"{self._path} cannot be read: {fault}. Remove it if older generations may count."
            ) from fault

    def write(self, generation: int) -> None:
        """Keep the generation, or raise Unwritable."""
        files.write(str(self._path), msgspec.json.encode(_Document(generation)))

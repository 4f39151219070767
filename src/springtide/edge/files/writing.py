"""Writing one file whole: it is there as it should be, or as it was before."""

import os

from springtide.edge.files.errors import Unwritable


def write(path: str, data: bytes) -> None:
    """Put the data into the file, or raise Unwritable; a file that is there is replaced."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except OSError as fault:
        if os.path.exists(beside):
            os.unlink(beside)
        why = fault.strerror or fault
        raise Unwritable(path, f"it cannot be written: {why}. Choose another place.") from fault

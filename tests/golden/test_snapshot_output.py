"""What `springtide snapshot` writes, byte for byte: as it is, and under other names."""

import io
from pathlib import Path

import pytest

from springtide.apps.snapshot import Choices, run
from springtide.edge import files
from tests.golden.expected import ROOT, assert_golden

EXAMPLE = ROOT / "examples" / "card-memory"
GOLDEN = Path(__file__).resolve().parent / "snapshot"


@pytest.mark.parametrize(("name", "key"), [("card-memory", None), ("card-memory.other", b"key")])
def test_a_snapshot_is_written_as_recorded(name: str, key: bytes | None) -> None:
    sources = files.read([str(EXAMPLE)], stdin=io.BytesIO())

    snapshot = run(sources, Choices(key=key))

    assert_golden(GOLDEN / f"{name}.json", snapshot.data.decode())

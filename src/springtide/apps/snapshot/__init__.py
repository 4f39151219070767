"""Saving a cluster to one document: what `springtide snapshot` does between reading and writing."""

from springtide.apps.snapshot.run import Choices, Snapshot, run

__all__ = ["Choices", "Snapshot", "run"]

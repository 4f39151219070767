"""Verbs: decisions as pure functions over the model.

`framework` holds the scheduler's filter plugins over columns and `scoring` its score plugins,
`placement` the protocol of a device family and what all families share, `simulation` the nodes
that do not exist yet, `capacity` how many of them are needed, `trace` replays of recorded clusters.
The engine knows no vendor, no wire format, no clock and no file.
"""

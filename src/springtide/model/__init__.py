"""Nouns: what a cluster is, in typed records and in columns.

`pod`, `node`, `device`, `group` and `profile` are immutable records, decoded once by `wire` and
never changed; `neighbours` is what a pod asks about other pods. `ledger` holds who uses what, as
columns over nodes and devices with an append-only change log, and `presence` who stands where, as
rules between pods see it; `overlay` is the one way to change a ledger hypothetically, with nested `fork`,
`revert` and `commit`. Nothing here decides, reads a clock or does I/O.
"""

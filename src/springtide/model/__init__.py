"""Nouns: what a cluster is, in typed records and in columns.

`pod`, `node`, `device`, `group` and `profile` are immutable records, decoded once by `wire` and
never changed. `ledger` holds who uses what, as columns over nodes and devices with an append-only
change log; `overlay` is the one way to change a ledger hypothetically, with nested `fork`,
`revert` and `commit`. Nothing here decides, reads a clock or does I/O.
"""

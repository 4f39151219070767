"""Nouns: what a cluster is, in typed records and in columns.

`pod`, `node`, `device`, `group` and `profile` are immutable records, decoded once by `wire` and
never changed; `neighbours` is what a pod asks about other pods, `preferences` what it would like,
and `attitudes` both as pods that are there hold it against others. `ledger` holds who uses what, as
columns over nodes and devices with an append-only change log, `presence` who stands where, as
rules between pods see it, and `leanings` who is liked where; `overlay` is the one way to change a
ledger hypothetically, with nested `fork`, `revert` and `commit`. `trace` has the plainer nodes and
pods of recorded clusters. Nothing here decides, reads a clock or does I/O.
"""

"""Packing measured on a recorded cluster: policies × traces × orders of arrival, against what is published.

`jobs` are one replay each, which `performing` does wherever a sweep has it done; `run` makes the jobs and
composes the report. `live` replays through the path of the live scheduler. `published` holds the facts to
compare with, `checks` and `parity` compare.
"""

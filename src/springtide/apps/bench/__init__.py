"""Packing measured on a recorded cluster: policies × traces × orders of arrival, against what is published.

`job` is one replay, done wherever a sweep does it; `run` makes the jobs, has them done and composes the
report. `published` holds the facts to compare with, `checks` compares.
"""

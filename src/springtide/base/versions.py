"""Versions of objects in a cluster, which are numbers that grow wherever they are numbers at all."""


def is_older(version: str, known: str) -> bool:
    """Return whether a version is known to come before another one."""
    are_numbers = version.isdecimal() and known.isdecimal()
    return are_numbers and int(version) < int(known)

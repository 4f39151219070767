"""How many replicas one metric asks for: its total over what one replica may carry, rounded up.

The arithmetic is exact. A total of 501 over 500 is two replicas, and so is 500.0000001: a float in
between would lose it for values of the size of memory. `suggest_truncated` is the formula of older
fleets, which drops what is behind the point and rounds towards zero.
"""

from decimal import Decimal

from springtide.model.replicas.rules import REPLICAS_MAX


def suggest(total: Decimal, per_replica: int) -> int:
    """Return the replicas that carry a total of at least zero; never less than one."""
    assert per_replica > 0
    assert total >= 0
    numerator, denominator = total.as_integer_ratio()
    return _bounded(-(-numerator // (denominator * per_replica)), least=1)


def suggest_truncated(total: Decimal, per_replica: int) -> int:
    """Return the replicas by the formula of older fleets; zero says that it does not know."""
    assert per_replica > 0
    below = int(total) - 1
    quotient = abs(below) // per_replica
    return _bounded((quotient if below >= 0 else -quotient) + 1, least=0)


def _bounded(replicas: int, *, least: int) -> int:
    return max(least, min(replicas, REPLICAS_MAX))

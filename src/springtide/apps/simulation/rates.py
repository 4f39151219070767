"""How often each client may call: a bucket of tokens for each, filled at a steady rate."""

import msgspec


class _Bucket(msgspec.Struct):
    tokens: float
    filled_s: float


class Rates:
    """The buckets of all clients, who are few: those that the configuration lists."""

    def __init__(self, *, per_s: float, burst: int) -> None:
        self._per_s = per_s
        self._burst = float(burst)
        self._buckets: dict[str, _Bucket] = {}

    def wait_s(self, client: str, now_s: float) -> float:
        """Return 0.0 and take a token, or how long it is until there is one."""
        bucket = self._buckets.setdefault(client, _Bucket(self._burst, now_s))
        gained = (now_s - bucket.filled_s) * self._per_s
        bucket.tokens = min(self._burst, bucket.tokens + gained)
        bucket.filled_s = now_s
        if bucket.tokens < 1.0:
            return (1.0 - bucket.tokens) / self._per_s
        bucket.tokens -= 1.0
        return 0.0

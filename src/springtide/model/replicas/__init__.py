"""Nouns of stateful replicas: metrics that ask for them, limits, knobs, and what Prometheus answered."""

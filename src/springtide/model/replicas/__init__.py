"""Nouns of stateful replicas: metrics that ask for them, limits, knobs, answers and statuses."""

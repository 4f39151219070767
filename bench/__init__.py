"""Benchmarks: one file a question, each figure measured in the run that prints it."""

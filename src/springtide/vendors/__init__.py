"""Accelerator makers: one package a device family, each a pure implementation of `DeviceFamily`.

A package reads what its device plugin registers, what pods ask of it and what they hold; it places
pods exactly on one node and judges many nodes at once. Packages do not know each other, and nothing
registers itself: apps choose families by name from an explicit table.
"""

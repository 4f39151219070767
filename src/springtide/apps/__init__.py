"""Processes: each package composes the core and the edge into one program."""

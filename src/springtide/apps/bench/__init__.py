"""Packing measured on a recorded cluster."""

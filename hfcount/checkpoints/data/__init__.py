"""Reads every tensor value of a local checkpoint once, and reports faults (extra `data`: numpy)."""

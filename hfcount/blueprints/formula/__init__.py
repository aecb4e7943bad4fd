"""Closed forms of parameter counts."""

"""Locks: what a checkpoint is, as an in-toto statement, and whether a copy is still the same."""

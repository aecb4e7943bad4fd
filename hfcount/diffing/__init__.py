"""Compares two checkpoints and says how B derives from A."""

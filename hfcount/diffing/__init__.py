"""Compares two checkpoints and says how B derives from A.

Work here on `hfcount diff`.
"""

"""Builds the blueprint, every tensor that a config describes, and its formulas.

Work here on counts, formulas, or configs of libraries other than transformers.
"""

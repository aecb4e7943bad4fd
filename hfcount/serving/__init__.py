"""Computes memory, cache, multiply-adds and the ranks that can share a model.

Work here on memory, context length, or tensor parallelism.
"""

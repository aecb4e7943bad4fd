"""Quantised weights: what announces a scheme, how each scheme stores a matrix, and how a checkpoint stores its own."""

"""Quantisation schemes: how each stores a matrix, and how the modules of a checkpoint are packed."""

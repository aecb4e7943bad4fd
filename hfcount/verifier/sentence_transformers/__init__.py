"""Checks the modules of sentence-transformers: their tensors and the widths of their features."""

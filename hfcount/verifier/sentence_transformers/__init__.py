"""Modules of sentence-transformers: the tensors that each loads, and the widths that it reads and gives."""

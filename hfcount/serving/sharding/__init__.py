"""How the ranks of tensor parallelism share a model, as vLLM and SGLang split it (arXiv:1909.08053).

Projections into heads, states and feed-forward networks are split along their outputs, those out of them along their
inputs, and tables of words along their rows; whatever else a rank needs is there whole. Which extents of a tensor these
are follows from the sizes that they are made of.
"""

"""Concepts that several architectures share, one per module: each reads its sizes and builds its tensors."""

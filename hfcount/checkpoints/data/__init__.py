"""The values of a checkpoint's tensors: every byte of local files read once, and judged (extra `data`: numpy)."""

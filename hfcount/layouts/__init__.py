"""Layouts of checkpoints that other libraries than transformers write: their configs and names in terms of families."""

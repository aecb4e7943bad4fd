"""Saves: what from_pretrained followed by save_pretrained writes of a checkpoint, and what it loses."""

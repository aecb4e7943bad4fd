"""Checkpoints of torch.save, of which nothing is run."""

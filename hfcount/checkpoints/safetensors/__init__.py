"""Checkpoints of safetensors, compared with the model that a config describes."""

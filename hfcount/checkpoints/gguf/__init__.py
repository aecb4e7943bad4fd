"""Checks GGUF files against their metadata and their base model."""

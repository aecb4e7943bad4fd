"""Checks diffusers pipelines: model_index.json, its parts, and whether they fit each other."""

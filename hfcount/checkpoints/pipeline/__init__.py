"""Repos of several models: a model_index.json of diffusers, the parts that it lists, and how these go together."""

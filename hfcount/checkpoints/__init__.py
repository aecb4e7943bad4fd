"""Inspects one checkpoint, from its name to its report; a folder for each form that weights are stored in.

Work here on a form of checkpoints (safetensors, pickle, GGUF, adapter, pipeline, ...) or the values in them.
"""

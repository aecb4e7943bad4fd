"""Parses the bytes of files: JSON, safetensors headers, indexes, GGUF, pickles.

Work here on a file format.
"""

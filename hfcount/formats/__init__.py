"""Parses the formats of files: JSON, indexes, safetensors and GGUF headers, pickles, recordings."""

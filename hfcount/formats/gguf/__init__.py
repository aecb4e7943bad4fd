"""Parses the headers of GGUF files."""

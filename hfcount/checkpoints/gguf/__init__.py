"""GGUF files, held against their metadata and their base."""

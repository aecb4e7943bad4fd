"""The formats of the documents that are read: JSON, the index, safetensors headers."""

"""The formats of the documents: JSON, the index, safetensors headers, recordings."""

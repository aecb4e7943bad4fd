"""Says what llama.cpp makes of GGUF files, by running what its source asks of their headers."""

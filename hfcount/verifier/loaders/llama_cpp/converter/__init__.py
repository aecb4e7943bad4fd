"""Runs what is recorded of llama.cpp's converter on a checkpoint's config and the names and shapes of its tensors."""

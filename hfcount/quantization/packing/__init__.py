"""The tensors of packed modules: expected by a scheme, and stored in a checkpoint."""

"""How mlx-lm reads checkpoints: keys, rotary settings, quantisers and names, as recorded of each type."""

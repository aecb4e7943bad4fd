"""LoRAs of diffusion models, and other single files without a config."""

"""The models of timm by name."""

"""Layers of diffusers' models."""

"""Repairs a local checkpoint where the fix is proven, and replaces its files atomically."""

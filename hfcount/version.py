"""The version, where all parts may read it."""

__version__ = "0.1.0"

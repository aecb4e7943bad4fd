"""Bytes in a unit that suits them."""

from hfcount.text import binary, rounded

__all__ = ["binary", "rounded"]

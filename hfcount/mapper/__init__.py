"""Typed reads of a config."""

from hfcount.mapper.reader import MAX_LAYERS, MAX_SIZE, Config

__all__ = ["MAX_LAYERS", "MAX_SIZE", "Config"]

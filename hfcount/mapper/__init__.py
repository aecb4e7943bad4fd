"""Typed reads of a config."""

from hfcount.mapper.reader import MAX_LAYERS, MAX_SIZE, Config
from hfcount.mapper.tracking import UNSAID

__all__ = ["MAX_LAYERS", "MAX_SIZE", "UNSAID", "Config"]

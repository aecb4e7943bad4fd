"""Reads config.json key by key, with the defaults of its class, and tracks which keys were read."""

from hfcount.mapper.reader import MAX_LAYERS, MAX_SIZE, Config
from hfcount.mapper.sizes import Sizes, count, derived, flag, optional, part, size
from hfcount.mapper.tracking import UNSAID

__all__ = ["MAX_LAYERS", "MAX_SIZE", "UNSAID", "Config", "Sizes"]
__all__ += ["count", "derived", "flag", "optional", "part", "size"]

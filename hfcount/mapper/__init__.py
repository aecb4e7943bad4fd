"""Maps the keys of config.json to typed values, and knows what absent keys mean.

Work here on how a key is read, its default, or a value that transformers refuses.
"""

from hfcount.mapper.reader import MAX_LAYERS, MAX_SIZE, Config
from hfcount.mapper.sizes import Sizes, count, derived, flag, optional, part, size
from hfcount.mapper.tracking import UNSAID

__all__ = ["MAX_LAYERS", "MAX_SIZE", "UNSAID", "Config", "Sizes"]
__all__ += ["count", "derived", "flag", "optional", "part", "size"]

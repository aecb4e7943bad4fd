"""Whether the head shares the embedding, where a config says so at several levels."""

from hfcount.mapper import Config
from hfcount.mapper.loader_differences import TIE
from hfcount.mapper.reference import knows


def head_tied(whole: Config, c: Config, default: bool) -> bool:
    """Whether the head is tied: the class that holds the head asks its own config, which is that of the whole model.

    transformers 5.23: modeling_utils.py, get_expanded_tied_weights_keys.
    """
    outer = whole.bool(TIE, default=None)
    inner = c.bool(TIE, default=None) if c.has(TIE) else None  # read, even where it does not count
    if outer is None and not knows(whole.family):
        outer = inner  # code of the repo's own, written for transformers 4, which asks the language model's config
    return default if outer is None else outer


def tied_anywhere(whole: Config, part: Config, default: bool = False) -> bool:
    """Whether either config ties the head, for classes that take over a true of the language model's.

    Args:
        default: what the class of the whole model means by an absent key; the part's class says that for itself.
    """
    inner = part.bool(TIE, default=False)
    return whole.bool(TIE, default=default) or inner

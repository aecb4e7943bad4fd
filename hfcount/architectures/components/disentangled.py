"""Attention that compares contents and relative positions apart, as in DeBERTa (arXiv:2006.03654)."""

from hfcount.mapper import Config


def ways(c: Config) -> list[str]:
    """How contents and positions are compared: the words of a text in any case, or of a list as they are."""
    words = c.strs("pos_att_type", parted="|")
    return [word.strip().lower() for word in words] if isinstance(c.value("pos_att_type"), str) else words

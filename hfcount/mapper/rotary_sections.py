"""Finds sections of rotary positions (of time, height and width) that do not add up to half of a head."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.mapper.accepted_values import ABSENT, Problem

_SETTINGS, _SECTIONS = "rope_parameters", "mrope_section"


class _Rule(NamedTuple):
    """How a class checks the sections.

    Args:
        width: the key of the features of a head that are turned.
        usual: the sections where the config gives no settings; None if these need none.
        filled: whether settings without sections get these, too.
        entries: how many there have to be; None if any.
    """

    width: str
    usual: tuple[int, ...] | None = None
    filled: bool = False
    entries: int | None = None


# transformers 5.24.0: configuration_hy_v4_vl.py:198, configuration_cosmos3_edge.py:108, configuration_hunyuan_vl.py:194
_RULES: Mapping[str, _Rule] = {
    "hy_v4_vl_text": _Rule("qk_rope_head_dim", (12, 10, 10), filled=True, entries=3),
    "cosmos3_edge_text": _Rule("head_dim", (24, 20, 20), entries=3),
    "hunyuan_vl_text": _Rule("head_dim"),
}


def sections(values: Mapping[str, Any], kind: str, usual: Mapping[str, Any]) -> Iterator[Problem]:
    """Sections of a config that its class refuses.

    Args:
        values: the config, and `usual` the defaults of its absent keys.
        kind: its model_type.
    """
    rule = _RULES.get(kind)
    settings = values.get("rope_scaling") or values.get(_SETTINGS)
    width = values.get(rule.width, usual.get(rule.width)) if rule else None
    if rule is None or type(width) is not int or not isinstance(settings, dict | None):
        return
    given, key = (settings or {}).get(_SECTIONS), f"{_SETTINGS}.{_SECTIONS}"
    taken = rule.usual if given is None and (not settings or rule.filled) else given
    if taken is None and rule.entries and settings:
        yield key, ABSENT, f"{rule.entries} sections are needed"
    elif _differ(taken, width // 2, rule.entries):
        needed = f"{rule.entries or 'a list of'} sections that add up to {width // 2}, half of {rule.width}"
        lacks = f"{needed} are needed, unlike those of the class"
        yield (key, ABSENT, lacks) if given is None else (key, given, needed)


def _differ(sizes: Any, total: int, count: int | None) -> bool:
    """Whether a list of numbers has another sum or number of entries; text, whose letters have no sum, differs too."""
    if isinstance(sizes, str):
        return True
    if not isinstance(sizes, list | tuple) or not all(type(size) in (int, float) for size in sizes):
        return False
    return sum(sizes) != total or (count is not None and len(sizes) != count)

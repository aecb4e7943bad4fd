"""Looks up values of a config by the full path of their keys."""

from collections.abc import Mapping
from typing import Any, Final

ABSENT: Final = object()
"""What a key has that is not there."""


def value_at(values: Mapping[str, Any], path: str) -> Any:
    """The value of a key by its full path, such as `text_config.hidden_size`; ABSENT if it is not there."""
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return ABSENT
        value = value[key]
    return value

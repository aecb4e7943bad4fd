"""How many tokens of context a config allows its language model."""

import re
from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.mapper.context_length import Length, longest
from hfcount.spec.tree.dims import has_key, origin

_PATH = re.compile(r"(?:\w+\.)*")


def limit_of(blueprint: Blueprint, values: Mapping[str, Any]) -> Length | None:
    """The most tokens of a sequence by a config; None if it gives no limit.

    The language model is described where its width is: in `text_config`, say, if it is part of a model.
    """
    width = blueprint.spec.hidden
    match = _PATH.match(origin(width)) if has_key(width) else None
    return longest(values, match[0] if match else "")

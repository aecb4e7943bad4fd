"""The token ids that a config names."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.mapper.class_defaults import declared

_ENDS = ("_token_id", "_token_index")


class TokenId(NamedTuple):
    """One id: the full path of its key, and whether transformers' class declares it where a config names none."""

    key: str
    value: int
    usual: bool


def token_ids(values: Mapping[str, Any], kind: Any, path: str = "") -> Iterator[TokenId]:
    """The ids in a config and in those nested in it.

    Args:
        values: the JSON object.
        kind: the model_type, or name, of the class that says what absent keys mean.
        path: the keys that lead to this part of the document, such as `text_config.`.
    """
    known = declared(kind if isinstance(kind, str) else "")
    for name, value in values.items():
        if isinstance(value, dict):
            yield from token_ids(value, known.part(name, value).kind, f"{path}{name}.")
        elif isinstance(name, str) and name.endswith(_ENDS):
            stem = name.rpartition("_")[0]
            usual = known.default((f"{stem}_id", f"{stem}_index"))
            for number in value if isinstance(value, list) else [value]:
                if type(number) is int:
                    yield TokenId(f"{path}{name}", number, usual is not None and usual[1] == number)

"""A report's JSON against its JSON Schema, by the few keywords that one uses; any other raises."""

import json
from typing import Any

from paths import ROOT

RECORDED = ROOT / "hfcount" / "docs" / "report.schema.json"
"""What `hfcount --schema` prints."""

_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_WORDS = {
    "type",
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "default",
}  # "type" is asked first, the others ask for nothing


def problems(schema: dict[str, Any], value: Any, root: dict[str, Any], where: str = "$") -> list[str]:
    """What of a value is not as the schema has it."""
    if "type" in schema and type(value) is not _TYPES[schema["type"]]:
        return [f"{where} is no {schema['type']}"]
    found: list[str] = []
    for word, wanted in schema.items():
        if word == "$ref":
            found += problems(root["$defs"][wanted.removeprefix("#/$defs/")], value, root, where)
        elif word == "anyOf":
            ways = [problems(one, value, root, where) for one in wanted]
            found += [] if [] in ways else ways[0]
        elif word in ("const", "enum"):
            found += [] if value in (wanted if word == "enum" else [wanted]) else [f"{where} is not {wanted}"]
        elif word == "required":
            found += [f"{where} lacks {name}" for name in wanted if name not in value]
        elif word == "items":
            found += [said for one in value for said in problems(wanted, one, root, f"{where}[]")]
        elif word == "properties":
            for name in value.keys() & wanted.keys():
                found += problems(wanted[name], value[name], root, f"{where}.{name}")
        elif word == "additionalProperties":
            more = {} if wanted is True else wanted
            for name in value.keys() - schema.get("properties", {}).keys():
                found += (
                    [f"{where} has {name}"] if more is False else problems(more, value[name], root, f"{where}.{name}")
                )
        elif word not in _WORDS:
            raise NotImplementedError(word)  # a keyword that is not checked must not pass for one that is
    return found


def recorded() -> dict[str, Any]:
    """The recorded schema."""
    schema: dict[str, Any] = json.loads(RECORDED.read_text())
    return schema

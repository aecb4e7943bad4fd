"""Records what versions of transformers make of rotary settings: `python tests/tools/rotary.py`, once with each.

It writes hfcount/mapper/rotary.json, a line for each model_type, by version, found by computing tables of frequencies:

- `unread`: kinds by form (see loading_rotary.py) whose table is that of a config without settings.
- `unscaled`: kinds by form whose table is that of positions that are not scaled.
- `top`: kinds for which original_max_position_embeddings counts where it stands at the top of the config.
- `refused`: kinds by form with which no table is made.
- `typed`: whether `type` of rope_scaling counts where rope_type beside it says another kind.
- `odd`: how an odd width of a head is refused: `given` as head_dim, or `divided`, of hidden_size by the heads.
- `factors`: how the number of entries is found that short_factor needs: of head_dim that is `given`, or `divided`;
  `one`, if it may not have one for all either, and `long`, if long_factor needs as many; `share` is that of a head's
  features that is turned where no key says so, if it is not 1.
- `kindless`: the number of one of the patterns at the top: what settings without a kind are refused, by place.
"""

import json
import os
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import loading_rotary
from loaders import _config_classes
from loading_rotary import Json

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "rotary.json"
THETA = 123_457.0
WIDTHS = (48, 96)
"""Features of a head, of which most shares that are turned are even."""

AT_REST = ("default", "dynamic", "longrope")
"""Kinds whose table is that of positions that are not scaled, until a sequence is long or a factor is not 1."""


def described(config: Any) -> Json:
    """What is recorded of a config class."""
    loading_rotary._BASE = THETA
    try:
        usual = config()
        forms = {}
        if any(hasattr(usual, name) for name in loading_rotary._NAMES):
            forms = dict(loading_rotary._forms(usual))
        heads = getattr(usual, "num_attention_heads", None)
    except Exception:  # a class that needs more than that
        return {}
    tables = [table for table in loading_rotary._tables(config) if _table(config, [table], {})]
    found: Json = {"odd": _odd(config, usual, heads)} if forms else {}
    width = {"head_dim": usual.head_dim} if getattr(usual, "head_dim", None) else {}
    plain = _table(config, tables, width) if tables else None
    if plain:
        made = {form: _table(config, tables, values) for form, values in forms.items()}
        unread, unscaled, refused = dict[str, list[str]](), dict[str, list[str]](), dict[str, list[str]]()
        for form, table in made.items():
            place, _, kind = form.partition("/")
            if not table:
                refused.setdefault(place, []).append(kind)
            elif table == plain:
                unread.setdefault(place, []).append(kind)
            elif kind not in AT_REST and table == made.get(f"{place}/default"):
                unscaled.setdefault(place, []).append(kind)
        found |= {
            "unread": _words(unread),
            "unscaled": _words(unscaled),
            "refused": _words(refused),
            "top": _top(config, tables, forms),
            "typed": _is_typed(config, tables, forms, made),
            **_factors(config, tables, usual, heads),
        }
    return {name: value for name, value in found.items() if value}


def _words(kinds: dict[str, list[str]]) -> dict[str, str]:
    return {form: " ".join(words) for form, words in kinds.items() if form != "headless"}


def _top(config: Any, tables: list[Any], forms: Json) -> str:
    """The kinds for which a length at the top counts."""
    found = []
    for kind in ("yarn", "llama3", "longrope"):
        values = deepcopy(forms[f"rope_scaling/{kind}"])
        values["rope_scaling"].pop("original_max_position_embeddings")
        with_it = _table(config, tables, values | {"original_max_position_embeddings": 16})
        if with_it and with_it != _table(config, tables, values):
            found.append(kind)
    return " ".join(found)


def _is_typed(config: Any, tables: list[Any], forms: Json, made: Json) -> bool:
    """Whether the kind is taken from `type`, where both are there."""
    values = deepcopy(forms["rope_scaling/linear"])
    values["rope_scaling"]["type"] = "default"
    table = _table(config, tables, values)
    return bool(table) and table == made["rope_scaling/default"] != made["rope_scaling/linear"]


def _odd(config: Any, usual: Any, heads: Any) -> str:
    """How an odd width of a head is refused."""
    asked: list[tuple[str, Json]] = [("given", {"head_dim": 7})]
    if isinstance(heads, int):
        null = {"head_dim": None} if "head_dim" in vars(usual) else {}
        asked.append(("divided", {"hidden_size": 7 * heads, **null}))
    return " ".join(word for word, values in asked if _refuses_odd(config, values))


def _factors(config: Any, tables: list[Any], usual: Any, heads: Any) -> Json:
    """How many entries the lists of factors need."""
    share, found = loading_rotary._share(usual), list[set[str]]()
    for width in WIDTHS:
        asked: list[tuple[str, Json]] = [("given", {"head_dim": width})]
        if isinstance(heads, int):
            null = {"head_dim": None} if "head_dim" in vars(usual) else {}
            asked.append(("divided", {"hidden_size": width * heads, **null}))
        rows = -(-int(width * share) // 2)
        found.append({word for by, sizes in asked for word in _needs(config, tables, sizes, rows, by)})
    words = " ".join(sorted(set.intersection(*found)))
    return {"factors": words, **({"share": share} if share != 1 else {})} if words else {}


def _needs(config: Any, tables: list[Any], sizes: Json, rows: int, word: str) -> list[str]:
    """What is recorded of a config with these sizes; nothing if lists of as many factors are not needed."""

    def is_made(short: int, long: int, bare: bool) -> bool:
        factors = {"short_factor": [1.0] * short, "long_factor": [2.0] * long}
        further = {"rope_type": "longrope", "factor": 2.0, "original_max_position_embeddings": 32}
        # Early classes of version 4 take no more keys than they need.
        settings = {**factors, **({"type": "longrope"} if bare else further)}
        return bool(_table(config, tables, {**sizes, "rope_scaling": settings}))

    bare = not is_made(rows, rows, False)
    if is_made(rows - 1, rows, bare) or is_made(rows + 1, rows, bare) or not is_made(rows, rows, bare):
        return []
    return [word, *([] if is_made(1, rows, bare) else ["one"]), *([] if is_made(rows, 1, bare) else ["long"])]


def _refuses_odd(config: Any, values: Json) -> bool:
    try:
        config(**values)
    except Exception as error:
        return "even rotary dimension" in f"{error} {error.__cause__}"
    return False


def _table(config: Any, tables: list[Any], values: Json) -> list[list[float]]:
    """The frequencies of the rotary embeddings of a config with these values; empty if it is refused."""
    try:
        made = config(**deepcopy(values))
        modules = [table(made) for table in tables]
    except Exception:
        return []
    return [
        [round(number, 9) for number in buffer.flatten().tolist()]
        for module in modules
        for name, buffer in module.named_buffers()
        if name.endswith("inv_freq") and "original" not in name
    ]


def main() -> None:
    """Writes what the installed version makes of each type."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical"}
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    rows: Json = json.loads(FILE.read_text())["types"] if FILE.exists() else {}
    patterns: list[Json] = json.loads(FILE.read_text())["all"]["kindless"] if FILE.exists() else []
    for kind, config in sorted(_config_classes().items()):
        row = rows.setdefault(kind, {})
        row.pop(transformers.__version__, None)
        found = described(config)
        if (pattern := loading_rotary.kindless(config)) is not None:
            found["kindless"] = patterns.index(pattern) if pattern in patterns else len(patterns)
            patterns += [] if pattern in patterns else [pattern]
        if found:
            row[transformers.__version__] = found
    text = ",\n".join(
        f"{json.dumps(kind)}: {json.dumps(row, separators=(',', ':'))}" for kind, row in sorted(rows.items()) if row
    )
    top = json.dumps({"library": "transformers", "kindless": patterns}, separators=(",", ":"))
    FILE.write_text(f'{{"all": {top}, "types": {{\n{text}\n}}}}\n')


if __name__ == "__main__":
    main()

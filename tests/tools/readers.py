"""Records how 4.57 and 5.23 read what configs leave unsaid: `python tests/tools/readers.py`, once with each of them.

It writes the part of hfcount/mapper/readers.json that the installed version is the judge of, one line per model_type:

- `older` (4.57): the flag that ties the head where a config has none (`tied`), the nested config whose flag the class
  asks (`text`, only where a model built from a recorded config ties by it), and the defaults of the keys of rotary
  positions; `scaling` is how rope_scaling names its kind where that is not `rope_type`. `top` are the
  keys of the language model that the class takes from the top level where text_config is absent,
  and `alone` is the flag there, if it is not that of the part's own type.
- `newer` (5.23): the rotary positions of a config that says nothing of them, for the types that 4.57 has.
  Both have rows of TYPE.PART.INNER, too: what TYPE gives to a nested config of the type INNER that says nothing,
  where it is not what INNER has by itself.
- `moved` (both): the keys that 4.57 takes from the top level where text_config is absent, and 5.23 does not.
"""

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from hfcount.mapper.keys_without_shape import may_bear

ROOT = Path(__file__).parents[2]
FILE = ROOT / "hfcount" / "mapper" / "readers.json"
TIE, TEXT = "tie_word_embeddings", "text_config"

Json = dict[str, Any]

# The keys of rotary positions in version 4; the rest of those that match it are of other architectures' own.
ROTARY = re.compile(
    r"(rope_theta|rotary_emb_base|global_rope_theta|local_rope_theta|rope_local_base_freq|rope_scaling"
    r"|partial_rotary_factor|rotary_pct)\Z"
)


def older() -> dict[str, Json]:
    """What this version of transformers, 4.57, means by absent keys, by model_type."""
    from transformers import CONFIG_MAPPING

    found: dict[str, Json] = {}
    parts: Json = {}
    for kind in sorted(CONFIG_MAPPING):
        made = _made(kind)
        if made is None:
            continue
        found[kind] = _row(made)
        text = made.get_text_config(decoder=True)
        if text is getattr(made, TEXT, None):
            found[kind] = {"text": TEXT} | found[kind]
            parts[text.model_type] = text
    found |= {kind: _row(one) for kind, one in parts.items() if kind not in found}  # no types of their own
    for kind in [kind for kind, row in found.items() if "text" in row]:
        text = getattr(_made(kind), TEXT)
        if (flag := getattr(text, TIE)) != found[text.model_type].get("tied", True):
            found[kind]["alone"] = flag
    for kind in found.keys() & CONFIG_MAPPING.keys():
        if taken := top(kind):
            found[kind]["top"] = taken
    for kind in spelled(found):
        found[kind]["scaling"] = "type"
    for place, inner in nested(found):
        if (row := _row(inner)) != {key: found[inner.model_type].get(key) for key in row}:
            found[place] = row
    tying = set(_tying(found))
    for kind, row in found.items():
        if "text" in row and kind not in tying:
            del row["text"]
    return found


def top(kind: str) -> list[str]:
    """The keys of the language model that are taken from the top level where there is no text_config."""

    text = getattr(_made(kind), TEXT, None)
    if text is None or isinstance(text, dict):
        return []
    own = [*signature(type(text).__init__).parameters, TIE]
    named = [name for name in dict.fromkeys(own) if name not in ("self", "kwargs", "dtype", "model_type")]
    tried = {name: _other(getattr(text, name, name == TIE)) for name in named}
    taken = {name for name, value in tried.items() if value is not None and _takes(kind, name, value)}
    sizes = {name for name, value in tried.items() if type(value) is int and may_bear(name, value)}
    # What cannot be tried, since another value has to fit others, goes with the sizes.
    return sorted(named if sizes and sizes <= taken else taken & {*sizes, TIE})


def _other(value: Any) -> Any:
    """Another value of the same type; None if that depends on other keys."""
    if isinstance(value, bool):
        return not value
    return value * 2 or 2 if isinstance(value, int) else value / 2 or 0.5 if isinstance(value, float) else None


def _takes(kind: str, name: str, value: Any) -> bool:
    from transformers import CONFIG_MAPPING

    try:
        text = getattr(CONFIG_MAPPING[kind].from_dict({"model_type": kind, name: value}), TEXT)
    except (ValueError, TypeError, AttributeError):  # refused, or there is no such part
        return False
    return bool(getattr(text, name, None) == value)


def moved(known: dict[str, Json]) -> dict[str, list[str]]:
    """The keys that version 4 takes from the top level, and this version does not."""
    rows = {kind: sorted({*row["top"]} - {*top(kind), TIE}) for kind, row in known.items() if "top" in row}
    return {kind: [*names, TIE] for kind, names in rows.items() if any(may_bear(name, 2) for name in names)}


def spelled(rows: dict[str, Json]) -> list[str]:
    """The types whose rope_scaling has to say `type` where others say `rope_type`."""
    from transformers import CONFIG_MAPPING

    found = []
    for kind in [kind for kind, row in rows.items() if "rope_scaling" in row and kind in CONFIG_MAPPING]:
        try:
            CONFIG_MAPPING[kind](rope_scaling={"rope_type": "linear", "factor": 2.0})
        except (KeyError, TypeError, ValueError, AttributeError):
            found.append(kind)
    return found


def newer(known: dict[str, Json]) -> dict[str, Json]:
    """The rotary positions that this version, 5.23, gives to a config that says nothing of them."""
    rows = {kind: _made(kind) for kind, row in known.items() if any(map(ROTARY.match, row))}
    found = {kind: made.rope_parameters for kind, made in rows.items() if getattr(made, "rope_parameters", None)}
    for place, inner in nested(known):
        given = getattr(inner, "rope_parameters", None)
        if given and given != found.get(inner.model_type):
            found[place] = given
    return found


def nested(known: dict[str, Json]) -> Iterator[tuple[str, Any]]:
    """What each type makes of a nested config that says nothing but its type, and the place that it is recorded at."""
    from transformers import CONFIG_MAPPING, PretrainedConfig

    for kind in sorted(known.keys() & CONFIG_MAPPING.keys()):
        for name, part in vars(_made(kind) or object).items():
            if isinstance(part, PretrainedConfig) and any(map(ROTARY.match, known.get(part.model_type, ()))):
                try:
                    values = {"model_type": kind, name: {"model_type": part.model_type}}
                    inner = getattr(CONFIG_MAPPING[kind].from_dict(values), name)
                except (ValueError, TypeError, KeyError, AttributeError):  # it needs more
                    continue
                yield f"{kind}.{name}.{part.model_type}", inner


def _row(made: Any) -> Json:
    nested = made.get_text_config(decoder=True) is getattr(made, TEXT, None)
    tied = {} if nested or getattr(made, TIE, True) else {"tied": False}
    return tied | {key: value for key, value in sorted(vars(made).items()) if ROTARY.match(key)}


def _made(kind: str) -> Any:
    from transformers import CONFIG_MAPPING

    try:
        return CONFIG_MAPPING[kind]()
    except (ValueError, OSError, KeyError):  # it has to be given its parts, or looks for a file, or is not there
        return None


def _tying(rows: dict[str, Json]) -> list[str]:
    """The types of which a model has fewer parameters if text_config ties."""
    found = []
    for kind in [kind for kind, row in rows.items() if "text" in row]:
        path = ROOT / "fixtures" / "architectures" / f"{kind}.json"
        made = json.loads(path.read_text())["config"] if path.exists() else {}
        values = made if TEXT in made else json.loads(_made(kind).to_json_string(use_diff=False))
        generating = _generating(kind)
        if generating is None:
            continue
        try:
            ties = _total(kind, generating, values, True) < _total(kind, generating, values, False)
        except Exception:  # these values are not for this version, whose class says what it ties
            ties = bool(generating._tied_weights_keys)
        found += [kind] if ties else []
    return found


def _generating(kind: str) -> Any:
    """The class of a type that has the head; None if there is none."""
    from transformers import CONFIG_MAPPING

    module = import_module(CONFIG_MAPPING[kind].__module__.replace(".configuration_", ".modeling_"))
    endings = ("ForConditionalGeneration", "ForImageClassification", "ForCausalLM")
    return next((one for end in endings for name, one in vars(module).items() if name.endswith(end)), None)


def _total(kind: str, generating: Any, values: Json, tied: bool) -> int:
    import torch
    from transformers import CONFIG_MAPPING

    # Some classes read sections from there, whatever it says besides.
    sections = {"rope_type": "default", "mrope_section": [8, 8, 8]}
    given = deepcopy(values) | {TEXT: {"rope_scaling": sections, **values.get(TEXT, {}), TIE: tied}}
    given[TEXT]["rope_scaling"] = given[TEXT]["rope_scaling"] or sections
    with torch.device("meta"):
        model = generating._from_config(CONFIG_MAPPING[kind].from_dict(given))
    model.tie_weights()
    return sum(one.numel() for one in model.parameters())


def main() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    data: Json = json.loads(FILE.read_text()) if FILE.exists() else {"versions": {}}
    part = "older" if transformers.__version__.startswith("4.") else "newer"
    data[part] = older() if part == "older" else newer(data["older"])
    if part == "newer":
        data["moved"] = moved(data["older"])
    data["versions"][part] = transformers.__version__
    write(data)
    sys.stdout.write(f"{FILE.name}: {len(data[part]):,} types as {transformers.__version__} reads them\n")


def write(data: Json) -> None:
    """One line per type."""
    lines = [
        f'"{part}": {{\n' + ",\n".join(f"{json.dumps(kind)}: {json.dumps(row)}" for kind, row in data[part].items())
        for part in ("older", "newer", "moved")
        if part in data
    ]
    FILE.write_text(f'{{"versions": {json.dumps(data["versions"])},\n' + "\n},\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()

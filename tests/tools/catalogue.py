"""Records what `hfcount --families` shows of each type: `python tests/tools/catalogue.py`.

It writes hfcount/architectures/catalogue.json, a line per model_type: its kind, by the auto classes of transformers or,
for types that it does not have, by what it is built of; the classes that are described; its layers; the keys of its
config that are read; the type that each nested config has in the recorded one; and who has judged the names and shapes.

What only transformers can say of its own types (their kinds and classes, and configs of types that no recorded one
holds) stays as it is recorded where the library is not installed (extra `oracle`).
"""

import json
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hfcount.architectures import families
from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.cli.architectures import FILE, KINDS
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared as declared_by
from hfcount.mapper.class_defaults import is_of_diffusers
from hfcount.mapper.classes import classes as classes_of

REFERENCE = Path(__file__).parents[2] / "hfcount" / "mapper" / "reference.json"
ARCHITECTURES = Path(__file__).parents[2] / "fixtures" / "architectures"

INSTALLED = find_spec("transformers") is not None

Json = dict[str, Any]

# The auto classes by which a type is of a kind, by words of their names; the first that fits.
_BY_CLASS = (
    ("time series", ("TIME_SERIES",)),
    ("audio", ("CTC", "RNNT", "TDT", "AUDIO", "SPEECH", "TEXT_TO_SPECTROGRAM", "TEXT_TO_WAVEFORM")),
    ("multimodal language models", ("IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM", "VISUAL_QUESTION", "DOCUMENT_QUESTION")),
    ("encoder-decoders", ("SEQ_TO_SEQ_CAUSAL_LM",)),
    ("text encoders", ("MASKED_LM",)),
    ("language models", ("CAUSAL_LM",)),
    ("image and text", ("ZERO_SHOT", "RETRIEVAL")),
    (
        "vision",
        ("IMAGE", "OBJECT", "SEGMENTATION", "DEPTH", "VIDEO", "BACKBONE", "MASK_GENERATION", "KEYPOINT", "POSE"),
    ),
    ("vision", ("NORMAL_ESTIMATION", "TEXT_RECOGNITION", "TABLE_RECOGNITION", "POINTMAP")),
    ("text encoders", ("SEQUENCE_CLASSIFICATION", "TOKEN_CLASSIFICATION", "QUESTION_ANSWERING", "TEXT_ENCODING")),
)

_EVERYWHERE = {"architectures", "dtype", "torch_dtype", "model_type", "per_layer_config"}


def recorded() -> Json:
    """What the file holds: a line for each type.

    Raises:
        LookupError: transformers is not installed, and it alone could say what a type's line holds.
    """
    known = {path.stem: json.loads(path.read_text()) for path in sorted(ARCHITECTURES.glob("*.json"))}
    within = _within(known)
    lines = {one: _line(one, known, within) for one in families.all_types()}
    declared = json.loads(REFERENCE.read_text())["classes"].values()
    parts = {part[0] for one in declared for part in one.get("parts", {}).values()}
    parts |= {part for line in lines.values() for part in line["parts"].values()}
    for one, line in lines.items():
        nested = one in parts or not _chosen(one)
        line["kind"] = line["kind"] or ("parts of other models" if nested else "others")
    return lines


def _within(known: Json) -> dict[str, tuple[str, Config]]:
    """The first nested config of each type, and the recorded architecture that holds it."""
    found: dict[str, tuple[str, Config]] = {}
    for name, one in known.items():
        for part in _parts(one["config"]):
            found.setdefault(part.family, (name, part))
    return found


def _fixture(model_type: str, known: Json, within: dict[str, tuple[str, Config]]) -> Json:
    """A config of a type, and its judge: the recorded ones, those of a type in the same file, or defaults."""
    if model_type in known:
        return dict(known[model_type])
    family = families.find(model_type)
    for other in family.types if family else ():
        values = known.get(other, {}).get("config", {}) | {"model_type": model_type, "architectures": None}
        try:
            build(Config(values))
        except HfcountError:
            continue
        if other in known:
            return {"config": values, "judge": f"{known[other]['judge']}; recorded of {other}"}
    if model_type in within:
        other, part = within[model_type]
        return {"config": part.facts() | {"model_type": model_type}, "judge": f"within {other}"}
    from transformers import CONFIG_MAPPING

    values = json.loads(json.dumps(CONFIG_MAPPING[model_type]().to_dict(), default=str))
    return {"config": values | {"model_type": model_type}, "judge": "within the models that it is part of"}


def _parts(values: Json) -> Iterator[Config]:
    """The nested configs that a family reads, at any depth."""
    config = Config(values)
    build(config)
    found = [*config.parts]
    while found:
        part = found.pop()
        yield part
        found += part.parts


def _line(model_type: str, known: Json, within: dict[str, tuple[str, Config]]) -> Json:
    theirs = not INSTALLED and _chosen(model_type)
    if theirs and model_type not in _lines():
        raise LookupError(f"{model_type} is a type of transformers: pip install -e '.[oracle]', then run this again")
    try:
        fixture = _fixture(model_type, known, within)
    except ModuleNotFoundError:  # its config comes from transformers' own defaults
        if model_type not in _lines():
            raise LookupError(f"{model_type} has no file in {ARCHITECTURES}: python tests/tools/record.py") from None
        return dict(_lines()[model_type])
    config = Config(fixture["config"])
    blueprint = build(config)
    own, keys = declared_by(model_type), [key for key in config.read_keys() if "." not in key]
    parts = {part.where.rpartition(": ")[2]: part.family for part in config.parts}
    shown = [key for key in keys if key in fixture["config"] or key in own.keys]
    told = {name: _lines()[model_type][name] for name in ("kind", "classes")} if theirs else {}
    return {
        "kind": told.get("kind") or _kind(model_type, blueprint),
        "classes": told.get("classes") or list(_classes(model_type, fixture["config"])),
        "layers": list(dict.fromkeys(kind.name for kind in blueprint.formula().kinds)) if blueprint.total else [],
        "keys": sorted({*shown} - {*parts} - _EVERYWHERE),
        "parts": parts,
        "judge": fixture["judge"],
    }


@cache
def _lines() -> Json:
    """The lines as they are recorded."""
    lines: Json = json.loads(FILE.read_text())
    return lines


def _chosen(model_type: str) -> bool:
    """Whether an auto class of transformers takes the type, or, where it is not installed, whether it has the type."""
    return bool(_mappings(model_type) if INSTALLED else classes_of(model_type))


@cache
def _mappings(model_type: str) -> dict[str, list[str]]:
    """The auto classes that have a type, by the name of their mapping, with its classes; none without the library."""
    if not INSTALLED:
        return {}
    from transformers.models.auto import modeling_auto as auto

    found = {name: one.get(model_type) for name, one in vars(auto).items() if name.endswith("_MAPPING_NAMES")}
    return {
        name: list(classes) if isinstance(classes, list | tuple) else [classes]
        for name, classes in found.items()
        if classes and name != "CONFIG_MAPPING_NAMES"
    }


def _kind(model_type: str, blueprint: Blueprint) -> str:
    """The kind by the auto classes, or else by what the model is built of; empty for what may be a part of others."""
    if is_of_diffusers(model_type):
        return "classes of diffusers"
    spec, mappings = blueprint.spec, _mappings(model_type)
    senses = {"audio", "vision"} & {row.component for row in blueprint.rows()} if spec.parts else set()
    by_class = (kind for kind, words in _BY_CLASS for name in mappings if any(word in name for word in words))
    return next(by_class, "") or (
        "multimodal language models"
        if spec.vocab and {"vision", "audio"} & spec.parts.keys()
        else "audio"
        if senses == {"audio"}
        else "time series"
        if spec.head == "prediction"
        else "image and text"
        if senses or spec.parts.keys() - {"text"}
        else ""
        if not spec.vocab or model_type.endswith(("_text", "_text_model"))
        else "language models"
        if spec.causal
        else "text encoders"
    )


def _classes(model_type: str, values: Json) -> Iterator[str]:
    """The classes that the config may name."""
    named = (
        [name for classes in _mappings(model_type).values() for name in classes] or values.get("architectures") or []
    )
    for name in dict.fromkeys(named):
        try:
            build(Config({**values, "architectures": [name]}))
        except HfcountError:
            continue
        yield name


def text(lines: Json) -> str:
    """One type a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in lines.items()) + "\n}\n"


def main() -> None:
    """Writes the file."""
    found = recorded()
    assert {one["kind"] for one in found.values()} <= {*KINDS}
    FILE.write_text(text(found))


if __name__ == "__main__":
    main()

"""Records what `hfcount --families` shows of each type: `python tests/catalogue.py` (extra `oracle`).

It writes hfcount/families/catalogue.json, a line per model_type: its kind, by the auto classes of transformers or, for
types that it does not have, by what it is built of; the classes that are described; its layers; the keys of its config
that are read; the type that each nested config has in the recorded one; and who has judged the names and shapes.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hfcount import families
from hfcount.cli.catalogue import FILE, KINDS
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.reference import declared as declared_by
from hfcount.plan import Blueprint, build

REFERENCE = Path(__file__).parent.parent / "hfcount" / "mapper" / "reference.json"
ARCHITECTURES = Path(__file__).parent.parent / "fixtures" / "architectures"

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
    """What the file holds: a line for each type."""
    known = {path.stem: json.loads(path.read_text()) for path in sorted(ARCHITECTURES.glob("*.json"))}
    lines = {one: _line(one, _fixture(one, known)) for one in families.all_types()}
    declared = json.loads(REFERENCE.read_text())["classes"].values()
    parts = {part[0] for one in declared for part in one.get("parts", {}).values()}
    parts |= {part for line in lines.values() for part in line["parts"].values()}
    for one, line in lines.items():
        nested = one in parts or not _mappings(one)
        line["kind"] = line["kind"] or ("parts of other models" if nested else "others")
    return lines


def _fixture(model_type: str, known: Json) -> Json:
    """A config of a type, and its judge: the recorded ones, those of a type in the same file, or defaults."""
    if model_type in known:
        return dict(known[model_type])
    family = families.find(model_type)
    for other in family.MODEL_TYPES if family else ():
        values = known.get(other, {}).get("config", {}) | {"model_type": model_type, "architectures": None}
        try:
            build(Config(values))
        except HfcountError:
            continue
        if other in known:
            return {"config": values, "judge": f"{known[other]['judge']}; recorded of {other}"}
    for other, recorded in known.items():
        for part in _parts(recorded["config"]):
            if part.family == model_type:
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


def _line(model_type: str, fixture: Json) -> Json:
    config = Config(fixture["config"])
    blueprint = build(config)
    own, keys = declared_by(model_type), [key for key in config.read_keys() if "." not in key]
    parts = {part.where.rpartition(": ")[2]: part.family for part in config.parts}
    shown = [key for key in keys if key in fixture["config"] or key in own.keys]
    return {
        "kind": _kind(model_type, blueprint),
        "classes": list(_classes(model_type, fixture["config"])),
        "layers": list(dict.fromkeys(kind.name for kind in blueprint.formula().kinds)) if blueprint.total else [],
        "keys": sorted({*shown} - {*parts} - _EVERYWHERE),
        "parts": parts,
        "judge": fixture["judge"],
    }


def _mappings(model_type: str) -> dict[str, list[str]]:
    """The auto classes that have a type, by the name of their mapping, with its classes."""
    from transformers.models.auto import modeling_auto as auto

    found = {name: one.get(model_type) for name, one in vars(auto).items() if name.endswith("_MAPPING_NAMES")}
    return {
        name: list(classes) if isinstance(classes, list | tuple) else [classes]
        for name, classes in found.items()
        if classes and name != "CONFIG_MAPPING_NAMES"
    }


def _kind(model_type: str, blueprint: Blueprint) -> str:
    """The kind by the auto classes, or else by what the model is built of; empty for what may be a part of others."""
    spec, mappings = blueprint.spec, _mappings(model_type)
    by_class = (kind for kind, words in _BY_CLASS for name in mappings if any(word in name for word in words))
    return next(by_class, "") or (
        "multimodal language models"
        if spec.vocab and {"vision", "audio"} & spec.parts.keys()
        else "image and text"
        if spec.parts
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


if __name__ == "__main__":
    found = recorded()
    assert {one["kind"] for one in found.values()} <= {*KINDS}
    Path(FILE).write_text(text(found))

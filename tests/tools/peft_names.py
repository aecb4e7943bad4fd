"""Records which old module names PEFT converts when it loads a LoRA: `python tests/tools/peft_names.py`.

Needs torch, transformers and peft. Models are built without data from the configs in fixtures/architectures/, and
PEFT's own conversion is run over the names that earlier versions of transformers gave to their modules. A type is
recorded only if all names that hfcount gives its modules are in the model that transformers builds.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from peft.utils.transformers_weight_conversion import convert_peft_adapter_state_dict_for_transformers
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.modules import Era, modules
from hfcount.errors import HfcountError

ROOT = Path(__file__).parents[2]
OUT = ROOT / "hfcount/checkpoints/adapter/old_names.tsv"
AUTO = ("CausalLM", "ImageTextToText", "Seq2SeqLM", "SpeechSeq2Seq", "MaskedLM", "MultimodalLM", "ObjectDetection")
HEADER = "# peft {peft}, transformers {transformers}; written by tests/tools/peft_names.py"


def paths(blueprint: Blueprint, era: Era) -> set[str]:
    """The linear modules by the names of an era, one of each stack."""
    known = modules(blueprint.spellings, era, blueprint.leaves)
    return {module.first for module in known if module.kind in ("linear", "transposed")}


def models(config: dict[str, Any]) -> Iterator[Any]:
    """The models that transformers may build of a config, on the device without data."""
    settings = transformers.AutoConfig.for_model(**config)
    named = getattr(transformers, (config.get("architectures") or [""])[0] or "-", None)
    kinds = [getattr(transformers, f"AutoModelFor{kind}", None) for kind in AUTO]
    for build in [
        named and named._from_config,
        *(kind and kind.from_config for kind in (*kinds, transformers.AutoModel)),
    ]:
        try:
            with torch.device("meta"):
                yield build(settings)
        except (ValueError, KeyError, ImportError, AttributeError, TypeError):
            continue


def names_of(model: Any) -> set[str]:
    """Paths of modules, and of what has parameters."""
    owners = {name.rpartition(".")[0] for name, _ in model.named_parameters()}
    return owners | {name for name, _ in model.named_modules()}


def left(model: Any, path: str, names: set[str]) -> bool:
    """Whether PEFT leaves an adapter of a module with that name unapplied."""
    tensors = {f"base_model.model.{path}.lora_{half}.weight": torch.zeros(1, 1) for half in "AB"}
    converted = convert_peft_adapter_state_dict_for_transformers(model, peft.LoraConfig(r=1), tensors)
    ends = (name.removeprefix("base_model.model.").partition(".lora_")[0] for name in converted)
    return not all(end in names for end in ends)


def row(family: str, config: dict[str, Any], blueprint: Blueprint) -> str:
    """The row of a type; empty if its names are those of old, or if it is not known in memory."""
    memory, old = paths(blueprint, "memory"), paths(blueprint, "checkpoint")
    if memory == old:
        return ""
    for model in models(config):
        names = names_of(model)
        if not memory <= names:
            continue
        if get_checkpoint_conversion_mapping(model.config.model_type) is None:
            return f"{family}\t{'*' if old - names else ''}"
        apart = [path for path in sorted(old - names) if not re.search(r"\.experts\.\d", path)]  # these are joined
        kept = dict.fromkeys(re.sub(r"\.\d+(?=\.|$)", ".#", path) for path in apart if left(model, path, names))
        return f"{family}\t{' '.join(kept)}"
    print(f"{family}: not all of its {len(memory)} modules are in a model", file=sys.stderr)
    return ""


def main() -> None:
    """Writes the table."""
    rows = set()
    for file in sorted((ROOT / "fixtures/architectures").glob("*.json")):
        config = json.loads(file.read_text("utf-8"))["config"]
        if "model_type" not in config or config["model_type"] not in transformers.CONFIG_MAPPING:
            continue
        try:
            blueprint = hfcount.blueprint(config)
            if isinstance(blueprint, Blueprint):
                rows.add(row(blueprint.spec.family, config, blueprint))
        except (HfcountError, StrictDataclassError, KeyError, ValueError) as error:
            print(f"{file.stem}: {error}", file=sys.stderr)
    versions = HEADER.format(peft=peft.__version__, transformers=transformers.__version__)
    OUT.write_text("\n".join([versions, *sorted(rows - {""})]) + "\n", "utf-8")


if __name__ == "__main__":
    main()

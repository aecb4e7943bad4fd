"""Records what versions of transformers refuse of keys that all configs may have: `python tests/tools/config_keys.py`.

Run with each version, it writes the line of that in hfcount/verifier/loaders/config_keys.json: names of methods and
properties of all config classes that a key of config.json takes the place of, so that models of two types are not
loaded, whichever of some values it has; the types whose
classes have experts of a chosen implementation, and those that prune heads; and, by kind of
kernel of attention, the types whose classes, or those of models within them, refuse it (`no_sdpa`,
`no_flash`, `no_flex`).
"""

import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import loading

FILE = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders" / "config_keys.json"
EXPERTS = ("@use_experts_implementation",)  # what PreTrainedModel._can_set_experts_implementation looks for
PRUNE = ("def _prune_heads", "def prune_heads")  # what PreTrainedModel.prune_heads calls in version 4
VALUES: tuple[Any, ...] = (1, "x", {}, [])
KERNELS = {"no_sdpa": "_supports_sdpa", "no_flash": "_supports_flash_attn", "no_flex": "_supports_flex_attn"}
"""What a class says of the kinds of kernels that it can compute its attention by."""

SIZES = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "num_key_value_heads": 2,
    "vocab_size": 32,
}


def refused() -> list[str]:
    """The names."""
    from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

    makes = [(LlamaConfig, LlamaForCausalLM), (BertConfig, BertForMaskedLM)]
    names = set.intersection(*(set(dir(config())) - vars(config()).keys() for config, _ in makes))
    with tempfile.TemporaryDirectory() as folder:
        for config, model in makes:
            saved = Path(folder) / model.__name__
            model(config(**SIZES)).save_pretrained(saved)
            names = {name for name in names if _is_refused(model, saved, name)}
    return sorted(names)


def _is_refused(model: Any, saved: Path, name: str) -> bool:
    file = saved / "config.json"
    values = json.loads(file.read_text())
    try:
        for value in VALUES:
            file.write_text(json.dumps(values | {name: value}))
            try:
                model.from_pretrained(saved)
            except Exception:  # of any kind, since it calls what the file says
                continue
            return False
        return True
    finally:
        file.write_text(json.dumps(values))


def having(marks: tuple[str, ...]) -> list[str]:
    """The types with a class in a module whose source has one of these marks."""
    import transformers

    classes: set[str] = set()
    for file in (Path(transformers.__file__).parent / "models").glob("*/modeling_*.py"):
        source = file.read_text()
        if any(mark in source for mark in marks):
            classes.update(re.findall(r"^class (\w+)", source, re.MULTILINE))
    names = json.loads((FILE.parents[2] / "mapper" / "classes.json").read_text())["classes"]
    return sorted(kind for kind, listed in names.items() if not classes.isdisjoint(listed.split()))


def attention() -> dict[str, str]:
    """The types that refuse a kind of kernel."""
    refusing: dict[str, list[str]] = {name: [] for name in KERNELS}
    loading.LAID_OUT = False
    for kind, made in loading.cases():
        models = next(_models(made()), [])
        for name, flag in KERNELS.items():
            if any(not getattr(model, flag, True) for model in models):  # one that is not installed says nothing
                refusing[name].append(kind)
    return {name: " ".join(sorted(kinds)) for name, kinds in refusing.items()}


def _models(cases: Iterator[loading.Case]) -> Iterator[list[Any]]:
    """The models of each class, itself and those within it; of a class that is not built, itself."""
    import torch
    import transformers

    for case in cases:
        model = getattr(transformers, case.name, None)
        if model is None:
            continue
        try:
            with torch.device("meta"):
                built = model(model.config_class.from_dict(deepcopy(case.config)))
        except Exception:  # it needs a library that is not installed, or more than its config
            yield [model]
        else:
            yield [part for part in built.modules() if isinstance(part, transformers.PreTrainedModel)]


def main() -> None:
    """Writes the line of the installed version."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    import transformers

    transformers.utils.logging.set_verbosity(60)
    rows: dict[str, Any] = json.loads(FILE.read_text())["versions"] if FILE.exists() else {}
    rows[transformers.__version__] = {
        "refused": " ".join(refused()),
        "experts": " ".join(having(EXPERTS)),
        "prune": " ".join(having(PRUNE)),
        **attention(),
    }
    lines = [f"{json.dumps(version)}: {json.dumps(rows[version], separators=(',', ':'))}" for version in sorted(rows)]
    FILE.write_text('{"all": {"library":"transformers"}, "versions": {\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()

"""Records what versions of transformers refuse of keys that all configs may have: `python tests/tools/config_keys.py`.

Run with each version, it writes the line of that in hfcount/verifier/loaders/config_keys.json: names of methods and
properties of all config classes that a key of config.json takes the place of, so that models of two types are not
loaded, whichever of some values it has; the activations that the newest version has and this one has not
(`no_activation`); the types whose
classes have experts of a chosen implementation, and those that prune heads; and, by kind of
kernel of attention, the types whose classes, or those of models within them, refuse it (`no_sdpa`,
`no_flash`, `no_flex`).
"""

import importlib
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
KERNELS = {
    "no_sdpa": ("_supports_sdpa", "sdpa"),
    "no_flash": ("_supports_flash_attn", "flash_attention_2"),
    "no_flex": ("_supports_flex_attn", "flex_attention"),
}
"""What a class says of the kinds of kernels that it can compute its attention by, and the name of one of them."""
DISPATCH = ("_flash_attn_can_dispatch", "_flash_attn_2_can_dispatch", "_flash_attn_3_can_dispatch")
"""The methods that look whether flash attention is installed, by version."""

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
    _ignore_packages()
    for kind, made in loading.cases():
        case = next(made(), None)
        for name in _refused_kernels(case) if case else ():
            refusing[name].append(kind)
    return {name: " ".join(sorted(kinds)) for name, kinds in refusing.items()}


def _ignore_packages() -> None:
    """Lets a class alone say whether it takes flash attention, be that installed or not."""
    import transformers

    older = transformers.__version__.startswith(
        "4."
    )  # it also takes a class by this name (4.57.1, modeling_utils.py:2405)

    def dispatch(model: Any, *_: Any, **__: Any) -> bool:
        if not (model._supports_flash_attn or (older and getattr(model, "_supports_flash_attn_2", False))):
            raise ValueError(f"{type(model).__name__} does not support flash attention")
        return True

    for name in DISPATCH:
        if hasattr(transformers.PreTrainedModel, name):
            setattr(transformers.PreTrainedModel, name, dispatch)
    modeling_utils = importlib.import_module("transformers.modeling_utils")
    for name in ("lazy_import_flash_attention", "is_kernels_available"):
        if hasattr(modeling_utils, name):
            setattr(modeling_utils, name, lambda *_, **__: False)


def _refused_kernels(case: loading.Case) -> Iterator[str]:
    """The kinds of kernels with which a model is not built; of a class that is not built at all, by what it says."""
    import transformers

    model = getattr(transformers, case.name, None)
    if model is None:
        return
    built = _built(model, case.config)
    parts = (
        [] if built is None else [part for part in built.modules() if isinstance(part, transformers.PreTrainedModel)]
    )
    for name, (flag, word) in KERNELS.items():
        if any(not getattr(part, flag, True) for part in parts or [model]):  # or else nothing refuses it
            refused = _built(model, case.config | {"_attn_implementation": word}) is None
            if refused or built is None:
                yield name


def _built(model: Any, config: loading.Json) -> Any:
    """A model without weights; None if it is not built, as where it needs a library that is not installed."""
    import torch

    try:
        with torch.device("meta"):
            return model(model.config_class.from_dict(deepcopy(config)))
    except Exception:  # of any kind, since each class refuses in its own way
        return None


def main() -> None:
    """Writes the line of the installed version."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    import transformers
    from transformers.activations import ACT2FN

    from hfcount.mapper.accepted_values import shared

    transformers.utils.logging.set_verbosity(60)
    rows: dict[str, Any] = json.loads(FILE.read_text())["versions"] if FILE.exists() else {}
    rows[transformers.__version__] = {
        "refused": " ".join(refused()),
        "no_activation": " ".join(sorted({*shared("activations")} - {*ACT2FN})),
        "experts": " ".join(having(EXPERTS)),
        "prune": " ".join(having(PRUNE)),
        **attention(),
    }
    lines = [f"{json.dumps(version)}: {json.dumps(rows[version], separators=(',', ':'))}" for version in sorted(rows)]
    FILE.write_text('{"all": {"library":"transformers"}, "versions": {\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()

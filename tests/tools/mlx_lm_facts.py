"""Records what mlx-lm makes of checkpoints: `python tests/tools/mlx_lm_facts.py`, where mlx-lm and transformers are.

It writes hfcount/verifier/loaders/mlx-lm-VERSION.json, one line per model_type. `--types A,B` prints those alone.
Without a mark below, absent is none. Keys are full paths.

- `module`: the file of mlx_lm/models that reads it; by class where that depends on the class.
- `lacks`: the error of importing it where mlx-lm alone is installed.
- `needs`: keys without which a config is refused.
- `sizes`: sizes that are taken where keys are absent, so that other weights do not fit: a number, another key, or null.
- `above`: sizes that are read at the top level alone, where transformers has them in text_config, with their defaults.
- `absent`: what is taken where a key that bears on no shape is absent, and what transformers takes there.
- `ignores`: keys that are not read, each with the value that is taken in their place, and transformers' default.
- `refuses`: values of keys that are refused, each with the error.
- `rope`: by the form in which rotary settings are written (FORMS in tests/tools/mlx_lm_rope.py) and their kind what is
  not read as transformers reads it: an error, the base that is taken instead, or true.
- `heads`: by tie_word_embeddings what becomes of a model without a head, and of a head that is stored.
- `tied_by`: where that is read, if a config has another for the language model: top or text_config.
- `drops`: names, numbers as {}, that are dropped where others are refused; layers.+ is a further layer. `disturbs`:
  those of them that change what is computed.
- `unexpected`, `wants`: names as transformers saves them that are refused, and those that are wanted in their place.
- `divides`: the error where a head is not as wide as the heads divide the hidden size.
- `converts`: methods of quantisation whose tensors its source converts.
- `patterned`: whether sliding_window_pattern says which layers have a window.
- `unlike`: how far the logits of its recorded checkpoint are from those of transformers, in standard deviations.
- `unknown`: what was not found out, and why.
"""

import argparse
import contextlib
import gc
import importlib.util
import io
import json
import re
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import lines
import mlx_lm_probes as probes
import mlx_lm_runs as runs
from loaders import FOLDER, apart
from mlx_lm_cases import samples

SECONDS = 180
"""How long all runs of a type may take."""

Json = dict[str, Any]

ORDER = (
    "module lacks needs sizes above absent ignores refuses rope heads tied_by drops disturbs unexpected wants"
    " divides converts patterned unlike unknown"
).split()


def modules() -> dict[str, str]:
    """The module of each type."""
    import mlx_lm.models
    from mlx_lm import utils

    names = {found.name for found in iter_modules(mlx_lm.models.__path__)}
    there = {name: name for name in names if _is_model(name)}
    remapped = getattr(utils, "MODEL_ARCHITECTURE_REMAPPING", {})  # not before 0.32
    by_class = {f"{kind} {name}": module for (kind, name), module in remapped.items()}
    other = {**utils.MODEL_REMAPPING, **by_class}
    return {**there, **{kind: module for kind, module in other.items() if module in there}}


def _is_model(name: str) -> bool:
    """Whether a module has a model, as far as it can be imported; one that cannot is asked when it is run."""
    source = _source(name)
    return "\nclass Model(" in source and "\nclass ModelArgs" in source


def of_type(kind: str, module: str) -> Json:
    """What is found of one type."""
    mlx = runs.Mlx()
    kind = kind if " " not in kind else module
    if lacks := _import_error(kind):
        return {"lacks": lacks}
    first: probes.Probe | None = None
    loaded: list[probes.Probe] = []
    for sample in samples(kind, module):
        probe = probes.Probe(mlx, sample)
        first = first or probe
        loaded += [] if probe.error else [probe]
        if not probe.error and probe.loaded.logits is not None and (probe.torch is None or probe.logits is not None):
            return _of_probe(probe)
    if loaded:
        return _of_probe(next((probe for probe in loaded if probe.loaded.logits is not None), loaded[0]))
    if first is None:
        return {"unknown": "no config of this type is recorded"} | _declared(kind)
    return _refused(mlx, first) | _declared(kind)


_WORDS = {
    "weight_scale_inv": "fp8",
    "weight_packed": "compressed-tensors",
    "weight_scale_2": "modelopt",
    "_blocks": "mxfp4",
}
"""Parts of names that only one method of quantisation stores, each with that method."""


def _converts(module: str) -> list[str]:
    source = _source(module)
    return [method for word, method in _WORDS.items() if word in source]


def _patterned(module: str) -> bool:
    """Whether sliding_window_pattern says which layers have a window; a model around another has that read it."""
    source = _source(module)
    inner = re.findall(r"^from \.? ?(?:import )?(\w+)", source, re.MULTILINE)
    sources = [source, *(_source(name) for name in inner if f"{name}.Model" in source)]
    return any("sliding_window_pattern" in each for each in sources)


def _source(module: str) -> str:
    return Path(str(importlib.util.find_spec(f"mlx_lm.models.{module}").origin)).read_text()


def _import_error(kind: str) -> str:
    from mlx_lm.utils import _get_classes

    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            _get_classes({"model_type": kind})
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {told.getvalue().strip() or error}"[:140]
    return ""


def _of_probe(probe: probes.Probe) -> Json:
    row: Json = {"unexpected": probe.unexpected}
    row |= probes.changed(probe)
    if probe.torch is not None and probe.logits is not None and not probe.like:
        row["unlike"] = round(runs.apart(probe.logits, probe.loaded.logits), 4)
    if probe.loaded.logits is None:
        row["unknown"] = f"what it computes: {probe.loaded.silent}"
        row.pop("unlike", None)
    row |= probe.rope.read()
    row |= probes.absent(probe)
    row |= probes.heads(probe)
    row |= probes.extras(probe)
    row |= probes.width(probe)
    return row


def _refused(mlx: runs.Mlx, probe: probes.Probe) -> Json:
    missing, unexpected = mlx.differences(probe.base, probe.weights)
    ends = tuple(f".{name}" for name in unexpected) + tuple(
        f".{name.removeprefix('model.')}" for name in unexpected if name not in probe.weights
    )
    row: Json = {
        "wants": sorted({runs.folded(name) for name in missing}),
        "unexpected": sorted({runs.folded(name) for name in probe.weights if f".{name}".endswith(ends)}),
    }
    if not (missing or unexpected):
        row |= probes.words(probe)
    return row | {"unknown": f"its recorded checkpoint is refused: {probe.error}"}


def _declared(kind: str) -> Json:
    """The arguments that have no default."""
    kind = kind.split()[0]
    import dataclasses

    from mlx_lm.utils import _get_classes

    args_class = _get_classes({"model_type": kind})[1]
    bare = [
        field.name
        for field in dataclasses.fields(args_class)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    return {"needs": sorted({*bare} - {"model_type"})}


def recorded(types: set[str] | None = None) -> Json:
    """The line of each type, or of those named."""
    found: Json = {}
    gc.freeze()
    for kind, module in sorted(modules().items()):
        if types is not None and kind not in types:
            continue
        row = apart(lambda kind=kind, module=module: of_type(kind, module), SECONDS)
        found[kind] = {"module": module, "converts": _converts(module), "patterned": _patterned(module)} | (
            row if isinstance(row, dict) else {"unknown": row} | _declared(kind)
        )
        print(kind, json.dumps(found[kind])[:3000], file=sys.stderr, flush=True)
    return {
        kind: {key: row[key] for key in ORDER if row.get(key) not in (None, False, [], {}, "")}
        for kind, row in found.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", help="print the lines of these alone")
    parser.add_argument("--print", action="store_true", help="print the file in place of writing it")
    asked = parser.parse_args()
    only = asked.types
    runs.quiet()
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity(60)
    found = lines.text("mlx-lm", version("mlx-lm"), recorded(set(only.split(",")) if only else None))
    if only or asked.print:
        print(found, end="")
    else:
        (Path(FOLDER) / f"mlx-lm-{version('mlx-lm')}.json").write_text(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs small checkpoints in mlx-lm and, where transformers has the type, in that, on the same weights and tokens.

Weights are random, so that two models that give the same logits compute the same.
"""

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy

Json = dict[str, Any]
Weights = dict[str, Any]

TOKENS = [7, 3, 11, 5, 2, 9, 13, 4, 6, 12, 8, 10, 1, 14, 3, 7, 9, 5]
"""What is given to models: more than any window of their attention."""
SAME = 0.02
"""How far logits of the same model may be apart, in their standard deviations: some factors are rounded to bfloat16."""


class Run(NamedTuple):
    """What came of loading and running a checkpoint; `error` is empty unless it was refused."""

    error: str = ""
    logits: Any = None
    shapes: Mapping[str, tuple[int, ...]] | None = None
    silent: str = ""


def apart(left: Any, right: Any) -> float:
    """How far two arrays of logits are apart, in standard deviations of the first; infinite if one is missing."""
    if left is None or right is None or left.shape != right.shape:
        return float("inf")
    spread = float(left.std())
    distance = float(numpy.abs(left - right).max() / (spread or 1.0))
    return distance if distance == distance else float("inf")


def alike(left: Any, right: Any) -> bool:
    """Whether two arrays of logits are of the same model."""
    return apart(left, right) < SAME


def short(error: BaseException) -> str:
    """An error in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])}"[:140]


class Mlx:
    """Loads checkpoints in mlx-lm, one after another, from a folder."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name)
        self._kept: Weights | None = None

    def run(self, config: Json, weights: Weights, forward: bool = True) -> Run:
        """Loads a checkpoint as mlx-lm does by default, strictly, and runs it."""
        import mlx.core as mx
        from mlx.utils import tree_flatten
        from mlx_lm.utils import load_model

        (self._path / "config.json").write_text(json.dumps(config))
        if weights is not self._kept:
            arrays = {name: mx.array(value) for name, value in weights.items()}
            mx.save_safetensors(str(self._path / "model.safetensors"), arrays)
            self._kept = weights
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                model, _ = load_model(self._path)
        except (Exception, SystemExit) as error:
            return Run(short(error))
        shapes = {name: tuple(value.shape) for name, value in tree_flatten(model.parameters())}
        if not forward:
            return Run(shapes=shapes)
        try:
            given = model(mx.array([TOKENS]))
            given = given[0] if isinstance(given, tuple) else getattr(given, "logits", given)
            return Run(logits=numpy.array(given.astype(mx.float32))[0], shapes=shapes)
        except Exception as error:
            return Run(shapes=shapes, silent=short(error))

    def built(self, config: Json) -> tuple[Any, str]:
        """The arguments that mlx-lm reads from a config, or the error."""
        from mlx_lm.utils import _get_classes

        try:
            return _get_classes(config)[1].from_dict(deepcopy(config)), ""
        except (Exception, SystemExit) as error:
            return None, short(error)

    def differences(self, config: Json, weights: Weights) -> tuple[list[str], list[str]]:
        """The names that a model wants and that are not there, and those that are there and not wanted."""
        import mlx.core as mx
        from mlx.utils import tree_flatten
        from mlx_lm.utils import _get_classes

        model_class, args_class = _get_classes(config)
        try:
            model = model_class(args_class.from_dict(deepcopy(config)))
            given = {name: mx.array(value) for name, value in weights.items()}
            given = model.sanitize(given) if hasattr(model, "sanitize") else given
        except (Exception, SystemExit):
            return [], []
        wanted = {name for name, _ in tree_flatten(model.parameters())}
        return sorted(wanted - given.keys()), sorted(given.keys() - wanted)

    def shapes(self, config: Json) -> Mapping[str, tuple[int, ...]] | str:
        """The parameters of a model without weights, or the error of building it."""
        from mlx.utils import tree_flatten
        from mlx_lm.utils import _get_classes

        try:
            model_class, args_class = _get_classes(config)
            model = model_class(args_class.from_dict(deepcopy(config)))
        except (Exception, SystemExit) as error:
            return short(error)
        return {name: tuple(value.shape) for name, value in tree_flatten(model.parameters())}


class Torch:
    """A model class of transformers, and random weights of it."""

    def __init__(self, class_name: str, config: Json) -> None:
        import torch
        import transformers

        self._class = getattr(transformers, class_name)
        torch.manual_seed(1)
        model = self._built(config)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                _randomise(name, parameter)
        self._state = model.state_dict()
        self.config: Json = json.loads(json.dumps(model.config.to_dict(), default=str))
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            self.saved: Json = json.loads((Path(folder) / "config.json").read_text())
            self.weights: Weights = _weights(Path(folder))

    def _built(self, config: Json) -> Any:
        kind = self._class.config_class
        values = kind.from_dict(deepcopy(config))
        values._attn_implementation = "eager"
        model = self._class._from_config(values, attn_implementation="eager")
        return model.float().eval()

    def logits(self, config: Json) -> Any:
        """What the model of another config gives with these weights; None where it does not take them."""
        import torch

        try:
            model = self._built(config)
            taken = model.load_state_dict(self._state, strict=False)
            if [name for name in taken.missing_keys if "inv_freq" not in name] or taken.unexpected_keys:
                return None
            with torch.no_grad():
                return model(input_ids=torch.tensor([TOKENS])).logits[0].float().numpy()
        except Exception:  # it refuses the config, or has other shapes
            return None


def _randomise(name: str, parameter: Any) -> None:
    import torch

    if parameter.dim() < 2:
        parameter.copy_(torch.randn_like(parameter) * 0.2 + (1.0 if "norm" in name else 0.0))
    else:
        parameter.copy_(torch.randn_like(parameter) * 1.5 / parameter.shape[-1] ** 0.5)


def _weights(folder: Path) -> Weights:
    from safetensors.numpy import load_file

    found: Weights = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= load_file(path)
    return found


def random_weights(shapes: Mapping[str, tuple[int, ...]]) -> Weights:
    """Random weights of these names and shapes."""
    numbers = numpy.random.default_rng(1)
    return {
        name: (numbers.standard_normal(shape) * 0.2 + (len(shape) == 1)).astype(numpy.float32)
        for name, shape in shapes.items()
    }


def folded(name: str) -> str:
    """A name, its numbers as {}."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)", "{}", name)


def quiet() -> None:
    """Lets transformers write nothing, and read no network."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TQDM_DISABLE": "1"}

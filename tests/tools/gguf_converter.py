"""Runs llama.cpp's converter over described models, without values: what each tensor becomes (extra `oracle`)."""

import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gguf_configs import ABSENT, ALIKE, Json

from hfcount.blueprints.build import blueprint

Shape = tuple[int, ...]

SHORT = 3  # tokens fewer than rows: shows whose table is cut to the tokenizer


@dataclass(frozen=True)
class Converted:
    """What one model became: its own tensors, the results with what each is made of, and the metadata."""

    model_type: str
    architecture: str
    given: dict[str, Shape]
    results: dict[str, tuple[Shape, tuple[str, ...]]]
    metadata: Json
    tokens: int

    @property
    def rows(self) -> int:
        """Tokens that a file with as many rows as the checkpoint would have; fewer where the table is cut to them."""
        held = self.results.get("token_embd.weight")
        return self.tokens if held and held[0][0] == self.tokens else self.tokens + SHORT


class Converter:
    """The converter of a source tree."""

    def __init__(self, folder: Path) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        sys.path[:0] = [str(folder), str(folder / "gguf-py")]
        import conversion
        import gguf
        from conversion.base import LazyTorchTensor, ModelBase, ModelType, get_model_architecture

        logging.disable(logging.CRITICAL)
        self.conversion, self.gguf, self.lazy, self.base = conversion, gguf, LazyTorchTensor, ModelBase
        self._class, self._kinds = get_model_architecture, ModelType

    def takes(self, config: Json, projector: bool) -> bool:
        """Whether the class that a config names is registered."""
        names = self.conversion.MMPROJ_MODEL_MAP if projector else self.conversion.TEXT_MODEL_MAP
        inner = (config.get("text_config") or {}).get("architectures") or []
        return any(name in names for name in [*(config.get("architectures") or []), *inner])

    def convert(self, config: Json, projector: bool, prediction: bool, spelling: Callable[[str], str]) -> Converted:
        """Converts a model of that config without values, its names spelt as an older checkpoint has them."""
        given = {
            name: tuple(map(int, leaf.shape))
            for leaf in blueprint(config).leaves
            if leaf.stored or (prediction and leaf.part == "prediction")
            for name in leaf.names()
        }
        text = config.get("text_config") or {}
        tokens = int(config.get("vocab_size") or text.get("vocab_size") or 50) - SHORT
        with tempfile.TemporaryDirectory() as folder:
            words = {f"t{number}": number for number in range(tokens)}
            special = {"added_tokens_decoder": {"1": {"content": "[IMG_BREAK]"}}}
            Path(folder, "config.json").write_text(json.dumps(config))
            Path(folder, "tokenizer_config.json").write_text(json.dumps(special))
            Path(folder, "tokenizer.json").write_text(
                json.dumps({"model": {"type": "BPE", "vocab": words}, "added_tokens": []})
            )
            return self._run(Path(folder), config, given, projector, tokens, prediction, spelling)

    def _run(
        self,
        folder: Path,
        config: Json,
        given: dict[str, Shape],
        projector: bool,
        tokens: int,
        prediction: bool,
        spelling: Callable[[str], str],
    ) -> Converted:
        values = ABSENT | self.base.load_hparams(folder, False)
        values.setdefault("vocab_size", tokens + SHORT)
        for key, other in ALIKE.items():
            if other in values:
                values.setdefault(key, values[other])
        for key in ("text_config", "vision_config", "audio_config"):
            if key in values and values[key] is None:
                del values[key]
        kind = self._kinds.MMPROJ if projector else self._kinds.TEXT
        parent = self.conversion.get_model_class(self._class(values, kind), mmproj=projector)
        sources: dict[int, str] = {}
        keep = []

        def index(model: Any, remote_hf_model_id: str | None = None) -> Json:
            tensors = {}
            for name, shape in given.items():
                tensor = self._tensor(shape)
                keep.append(tensor)
                sources[id(tensor)] = name
                item = model.filter_tensors((spelling(name), lambda tensor=tensor: tensor))
                if item:
                    tensors[item[0]] = item[1]
            return tensors

        def vocabulary(model: Any, *_: Any, **__: Any) -> None:
            model.gguf_writer.add_token_list([f"t{number}" for number in range(tokens)])

        def listed(model: Any, *_: Any, **__: Any) -> Any:
            return [b"x"] * tokens, [0.0] * tokens, [1] * tokens

        methods = {"_create_vocab_sentencepiece": listed, "model_arch": parent.model_arch}
        if not prediction:
            methods["no_mtp"] = True
        if not projector:
            methods["set_vocab"] = vocabulary
        trial = type("Trial", (parent,), methods)
        kind = self.gguf.LlamaFileType.ALL_F32
        self.base.index_tensors = index
        model = trial(folder, kind, folder / "x.gguf", eager=False, dry_run=True, hparams=values)
        if projector:
            model.preprocessor_config = {**PREPROCESSOR, **model.preprocessor_config}
        model = getattr(model, "impl", model)  # some are only a choice between two others
        if not projector:
            model.set_vocab = lambda: vocabulary(model)
        results: dict[str, tuple[Shape, tuple[str, ...]]] = {}
        write = model.gguf_writer.add_tensor

        def add(name: str, data: Any, *rest: Any, **named: Any) -> None:
            results[name] = (tuple(map(int, data.shape)), tuple(dict.fromkeys(_origins(data, sources, set()))))
            write(name, data, *rest, **named)

        model.gguf_writer.add_tensor = add
        model.prepare_tensors()
        model.prepare_metadata(vocab_only=False)
        pairs = {key: value.value for part in model.gguf_writer.kv_data for key, value in part.items()}
        name = pairs["general.architecture"]
        if projector:
            name = f"clip:{pairs.get('clip.projector_type') or config['model_type']}"
        return Converted(config["model_type"], name, given, results, pairs, tokens)

    def _tensor(self, shape: Shape) -> Any:
        import torch

        meta = torch.empty(shape, device="meta")
        return self.lazy(meta=meta, args=(shape,), func=lambda shape: torch.zeros(()).expand(shape))


PREPROCESSOR = {
    "image_mean": [0, 0, 0],
    "image_std": [1, 1, 1],
    "size": {"shortest_edge": 100, "longest_edge": 200},
    "min_pixels": 1,
    "max_pixels": 2,
    "image_size": 56,
}


def _origins(value: Any, sources: dict[int, str], seen: set[int]) -> Iterator[str]:
    """The names of the tensors that a lazy one is computed from."""
    stack = [value]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if id(item) in sources:
            yield sources[id(item)]
        elif isinstance(item, (list, tuple)):
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif hasattr(item, "_func"):
            inner = [cell.cell_contents for cell in getattr(item._func, "__closure__", None) or () if _filled(cell)]
            stack.extend([inner, item._kwargs, item._args])


def _filled(cell: Any) -> bool:
    try:
        return hasattr(cell.cell_contents, "_func")
    except ValueError:
        return False

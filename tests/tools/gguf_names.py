"""Records how llama.cpp's converter names tensors: `python tests/tools/gguf_names.py FOLDER` (extra `oracle`).

FOLDER is llama.cpp's source as the sdist of llama-cpp-python holds it (vendor/llama.cpp). Each recorded architecture
that the converter takes is converted twice, with other sizes the second time. No value is read: the converter's lazy
tensors say which tensors each result is made of. What comes of it is hfcount/containers/gguf.tsv, whose sections
hfcount/containers/gguf_table.py describes. `--show TYPE` prints one conversion instead.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from distinct import HEADS, LAYERS, sizes
from gguf_shapes import Sample, dimension_rows, layer_rows

from hfcount.building import blueprint
from hfcount.containers.gguf_table import change, folded, slots
from hfcount.errors import HfcountError

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "hfcount" / "containers" / "gguf.tsv"
Json = dict[str, Any]
Shape = tuple[int, ...]

TAKEN = {"temporal_patch_size": 2, "altup_num_inputs": 4, "decoder_sparse_step": 1}
"""Sizes of which the converter takes no other."""

BY_TYPE: dict[str, Json] = {
    "mamba": {"hidden_size": 64, "intermediate_size": 128},
    "falcon_mamba": {"hidden_size": 64, "intermediate_size": 128},
    "falcon": {"num_kv_heads": 1},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8}},
    "eurobert": {"classifier_pooling": "mean"},
    "falcon_h1": {"head_dim": 176},
    "qwen3_5_text": {"mtp_num_hidden_layers": 1},
    "qwen3_5_moe_text": {"mtp_num_hidden_layers": 1},
}

ABSENT = {
    "n_ctx": 64,
    "rotary_pct": 0.25,
    "scale_emb": 12,
    "scale_depth": 1.4,
    "dim_model_base": 256,
    "decoder_start_token_id": 0,
    "max_position_embeddings": 64,
    "layer_norm_epsilon": 1e-5,
    "topk_method": "noaux_tc",
    "rope_theta": 10000.0,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "rotary_dim": 16,
    "partial_rotary_factor": 0.25,
    "norm_topk_prob": False,
    "activation_function": "silu",
    "linear_conv_kernel_dim": 4,
}
"""Values without a bearing on tensors that the converter asks of a config, whose defaults are left out there."""

ALIKE = {
    "moe_intermediate_size": "intermediate_size",
    "swa_head_dim": "head_dim",
    "swa_v_head_dim": "v_head_dim",
    "swa_num_attention_heads": "num_attention_heads",
    "swa_num_key_value_heads": "num_key_value_heads",
}
"""Keys that the converter asks for although another says it."""

DEEP, MANY = 5, 12  # layers and experts of a config that is not small
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


def smaller(config: Json) -> Json:
    """A config with few layers and experts, as the converter takes it; lists for each layer are cut with them."""
    depth = config.get("num_hidden_layers")
    changed: Json = {}
    for key, value in config.items():
        if isinstance(value, dict):
            value = smaller(value)
        elif isinstance(value, list) and value:
            value = _shorter(value, depth)
        elif type(value) is int and LAYERS.search(key) and value > DEEP:
            value = DEEP
        elif type(value) is int and key.endswith("experts") and value > MANY:
            value = MANY
        changed[key] = TAKEN.get(key, value)
    if changed.get("kv_lora_rank") and "num_key_value_heads" in changed:
        changed["num_key_value_heads"] = changed["num_attention_heads"]
    return {
        key: value
        for key, value in (changed | BY_TYPE.get(changed.get("model_type", ""), {})).items()
        if value is not None
    }


def _shorter(values: list[Any], depth: int | None) -> list[Any]:
    if depth and len(values) == depth > DEEP:
        return values[:DEEP]
    if (
        all(type(value) is int for value in values)
        and values == sorted(set(values))
        and values[-1] >= DEEP
        and values[-1] < 64
    ):
        return [value for value in values if value < DEEP] or [1]
    return values


def resized(config: Json) -> Json:
    """The config with every size changed that may change alone."""
    for number, way in enumerate(sizes(config)):
        if way[-1] in TAKEN or way[-1].endswith("step") or way[0] == "architectures":
            continue
        factor = 2 if HEADS.search(way[-1]) or number % 2 else 3
        value = sizes(config).get(way, 0)
        changed = _with(config, way, value + 1 if LAYERS.search(way[-1]) or value < 3 else value * factor)
        try:
            blueprint(smaller(changed))
        except (HfcountError, TypeError):
            continue
        config = changed
    return smaller(config)


def flagged(config: Json) -> Json:
    """The config with every switch turned that changes the names of its tensors."""
    for way in list(_switches(config, ())):
        changed = _with(config, way, not _at(config, way))
        try:
            before, after = ({leaf.name for leaf in blueprint(values).leaves} for values in (config, changed))
        except (HfcountError, TypeError):
            continue
        if before != after:
            config = changed
    return config


def _switches(config: Json, way: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _switches(value, (*way, key))
        elif isinstance(value, bool):
            yield (*way, key)


def _at(config: Json, way: tuple[str, ...]) -> Any:
    return _at(config[way[0]], way[1:]) if len(way) > 1 else config[way[0]]


def _with(config: Json, way: tuple[str, ...], value: int) -> Json:
    key, *rest = way
    inner = config[key]
    if rest:
        return {**config, key: _with(inner, tuple(rest), value)}
    return {**config, key: [value] * len(inner) if isinstance(inner, list) else value}


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
            if leaf.written or (prediction and leaf.part == "prediction")
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


def recorded(converter: Converter, only: str | None = None) -> Iterator[tuple[Json, bool, str, Converted | None, str]]:
    """Every recorded config that the converter knows, its conversions, and what failed."""
    for file in sorted((ROOT / "fixtures" / "architectures").glob(f"{only or '*'}.json")):
        config = json.loads(file.read_text())["config"]
        for projector in (False, True):
            if converter.takes(config, projector):
                for variant in (smaller, resized, flagged):
                    yield from _attempt(converter, file.stem, config, projector, variant)


def _attempt(
    converter: Converter, stem: str, config: Json, projector: bool, variant: Callable[[Json], Json]
) -> Iterator[tuple[Json, bool, str, Converted | None, str]]:
    problem = ""
    for prediction, spelling in product((True, False), (str, _older)):
        try:
            changed = variant(smaller(config))
            yield changed, projector, stem, converter.convert(changed, projector, prediction, spelling), ""
            return
        except Exception as error:  # whatever the converter raises: a type that it does not take is left out
            where = error.__traceback__
            while where and where.tb_next:
                where = where.tb_next
            line = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
            problem = problem or f"{type(error).__name__} {str(error)[:100]} {line}"
    yield config, projector, stem, None, problem


def _older(name: str) -> str:
    """The name that a vision tower's tensor had before transformers 5, which the converter knows."""
    return name.replace("vision_tower.", "vision_tower.vision_model.")


def name_rows(models: list[Converted]) -> list[str]:
    """Section `names`: a row for each name of a checkpoint and each way in which it is converted."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for model in models:
        for pattern, target in _targets(model):
            seen[pattern][target].add(model.architecture)
    return _made(models) + [
        f"{pattern}\t{target}\t{' '.join(sorted(architectures))}"
        for pattern, targets in sorted(seen.items())
        for target, architectures in sorted(_settled(targets).items())
    ]


def _settled(targets: dict[str, set[str]]) -> dict[str, set[str]]:
    """Of rows of one architecture that differ in the change of shape alone, the one without a known change."""
    merged: dict[str, set[str]] = defaultdict(set)
    for target, architectures in targets.items():
        names = [word.partition("=")[0] for word in target.split()]
        for architecture in architectures:
            alike = {
                other
                for other, of in targets.items()
                if architecture in of and [word.partition("=")[0] for word in other.split()] == names
            }
            loose = " ".join(f"{name}=other" for name in names)
            merged[target if len(alike) == 1 else loose].add(architecture)
    used = {architecture for target, of in merged.items() if target != "-" for architecture in of}
    merged["-"] -= used  # layers beyond the model's own may be left out while the others are converted
    return {target: of for target, of in merged.items() if of}


def _made(models: list[Converted]) -> list[str]:
    """Rows of what the converter makes by itself, or of values that it has computed first."""
    made: dict[str, set[str]] = defaultdict(set)
    for model in models:
        made[model.architecture] |= {folded(name)[0] for name, (_, origins) in model.results.items() if not origins}
    return [
        f"*\t{' '.join(f'{name}=any' for name in sorted(names))}\t{architecture}"
        for architecture, names in sorted(made.items())
        if names
    ]


def _targets(model: Converted) -> Iterator[tuple[str, str]]:
    users: dict[str, list[str]] = {name: [] for name in model.given}
    for result, (_, origins) in model.results.items():
        for origin in origins:
            users[origin].append(result)
    name = model.metadata["general.architecture"]
    depth = model.metadata.get(f"{name}.block_count", 0) - model.metadata.get(f"{name}.nextn_predict_layers", 0)
    levels: dict[str, dict[str, set[str]]] = {}
    for name, results in users.items():
        for pattern, numbers in slots(name):
            target = " ".join(
                f"{_pattern(result, numbers, depth)}={_change(model, name, result)}" for result in sorted(results)
            )
            levels.setdefault(pattern, defaultdict(set))[target].add(name)
    dropped = _dropped(users)
    for name in users:
        if prefix := next((prefix for prefix in dropped if name.startswith(prefix)), None):
            yield f"{prefix}*", "-"
            continue
        for pattern, _ in slots(name):
            targets = {target for target in levels[pattern] if target} or {""}
            if len(targets) == 1:
                yield pattern, targets.pop() or "-"
                break


def _dropped(users: dict[str, list[str]]) -> list[str]:
    """Beginnings of names, without numbers, of which the converter uses no tensor."""
    prefixes: dict[str, bool] = {}
    for name, results in users.items():
        parts = name.split(".")
        for count in range(1, len(parts)):
            if parts[count - 1].isdecimal():
                break
            prefix = ".".join(parts[:count]) + "."
            prefixes[prefix] = prefixes.get(prefix, False) or bool(results)
    unused = sorted(prefix for prefix, used in prefixes.items() if not used)
    return [prefix for prefix in unused if not any(prefix != other and prefix.startswith(other) for other in unused)]


def _change(model: Converted, name: str, result: str) -> str:
    shape, origins = model.results[result]
    alike = {next(iter(slots(origin)))[0] for origin in origins}
    found = change(model.given[name], shape, len(origins)) if len(alike) == 1 else "other"
    if result == "token_embd.weight" and model.rows == model.tokens:
        return "same"  # but for the rows beyond the tokenizer's
    return "any" if found == "other" and not _kept(model, result) else found


def _kept(model: Converted, result: str) -> bool:
    """Whether as many elements come out of the conversion of some tensors as went in."""
    results, origins = {result}, set[str]()
    while True:
        more = {origin for name in results for origin in model.results[name][1]}
        wider = {name for name, (_, of) in model.results.items() if not more.isdisjoint(of)}
        if more == origins and wider == results:
            break
        origins, results = more, wider
    return sum(prod(model.given[name]) for name in origins) == sum(prod(model.results[name][0]) for name in results)


def _pattern(result: str, numbers: tuple[int, ...], depth: int) -> str:
    """A result's name with the numbers of its origin: {0} is the first, {n} the number of layers, {n0} both."""
    parts = []
    for part in result.split("."):
        if part.isdecimal():
            number = int(part)
            if numbers and number == numbers[0]:
                part = "{0}"
            elif numbers and depth and number == depth + numbers[0]:
                part = "{n0}"
            elif depth and number == depth:
                part = "{n}"
            elif number in numbers:
                part = f"{{{numbers.index(number)}}}"
        parts.append(part)
    return ".".join(parts)


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show")
    arguments = parser.parse_args()
    converter = Converter(arguments.folder)
    models, failed, taken = [], [], Counter[str]()
    for _, projector, stem, model, problem in recorded(converter, arguments.show):
        if model is None:
            failed.append(f"{stem}{' projector' if projector else ''}: {problem}")
        elif model.results:
            models.append(model)
            taken[model.architecture] += 1
    if arguments.show:
        for model in models:
            print(model.architecture, json.dumps({k: v for k, v in model.metadata.items() if "tokenizer" not in k}))
            for name, (shape, origins) in model.results.items():
                print(name, shape, origins[:3])
        print(*failed, sep="\n")
        return
    samples = [
        Sample(
            m.architecture,
            m.model_type,
            {n: s for n, (s, _) in m.results.items()},
            m.metadata,
            m.rows,
            m.rows == m.tokens,
        )
        for m in models
    ]
    version = arguments.folder.resolve().parents[1].name
    text = "\n".join(
        [
            f"# {version}; written by tests/tools/gguf_names.py",
            "[names]",
            *name_rows(models),
            "[layers]",
            *layer_rows(samples, converter.gguf),
            "[shapes]",
            *dimension_rows(samples),
        ]
    )
    TARGET.write_text(text + "\n")
    print(f"{len(models)} conversions of {len(taken)} architectures; {len(failed)} failed:", *failed, sep="\n  ")


if __name__ == "__main__":
    main()

"""Small checkpoints with weights, as transformers saves them: configs of every type that it builds, tensors, files.

Imported only where torch and transformers are installed.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from paths import ARCHITECTURES
from safetensors.torch import load, save
from transformers.models.auto import modeling_auto

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)

Json = dict[str, Any]
State = dict[str, torch.Tensor]
Path_ = tuple[str, ...]  # of a key in a nested config

CONFIG, INDEX, SINGLE = "config.json", "model.safetensors.index.json", "model.safetensors"

LIMIT = 600_000
"""Elements: what a model may have, so that hundreds of them are written and read in a minute."""

# What a size is cut to, in a type whose recorded config gives a larger model.
_CAPS = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "embed_dim", "embedding_dim", "out_hidden_size", "projector_output_dim"), 32
    ),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_inner", "mlp_dim"), 40),
    **dict.fromkeys(("moe_intermediate_size", "kv_lora_rank", "qk_nope_head_dim", "linear_key_head_dim"), 12),
    **dict.fromkeys(("shared_intermediate_size", "shared_expert_intermediate_size", "q_lora_rank"), 20),
    **dict.fromkeys(("head_dim", "linear_head_dim", "linear_value_head_dim", "kv_channels", "index_head_dim"), 16),
    **dict.fromkeys(("num_attention_heads", "num_key_value_heads", "index_n_heads", "linear_num_value_heads"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 6),
    **dict.fromkeys(("num_experts_per_tok", "num_experts_per_token", "moe_topk", "patch_size"), 4),
    **dict.fromkeys(("linear_num_key_heads", "spatial_merge_size", "encoder_layers", "decoder_layers"), 2),
    "vocab_size": 120,
    "decoder_vocab_size": 120,
    "qk_rope_head_dim": 8,
    "v_head_dim": 10,
    "depth": 3,
    "max_position_embeddings": 64,
    "attention_hidden_size": 64,
    "num_position_embeddings": 36,
    "image_size": 64,
    "max_target_positions": 40,
    "num_blocks": 2,
    "speech_lora_r": 0,
}

# Where sizes depend on one another.
_FITTED: Mapping[str, Json] = {
    "bamba": {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 12},
    "d_fine": {"head_dim": 4},
    "deimv2": {"head_dim": 4},
    "granitemoehybrid": {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 12},
    "hy_v4_vl_text": {"rope_parameters": {"mrope_section": [2, 1, 1]}},
    "inkling2": {"vision_config": {"text_hidden_size": 32}},
    "lw_detr": {"group_detr": 2, "num_queries": 20, "c2f_num_blocks": 1},
    "mamba2": {"num_heads": 4, "head_dim": 16, "state_size": 12},
    "rf_detr": {"group_detr": 2, "num_queries": 20},
    "wavtokenizer_encoder": {"codebook_dim": 32},
    "xlnet": {"n_head": 4, "d_head": 8, "n_layer": 3},
    "xlstm": {"vocab_size": 52, "num_hidden_layers": 2, "num_blocks": 2},
}

# Whose nested sizes depend on one another, and that are small enough as they are recorded; or else too large.
_WHOLE = ("dots3_note_audio_encoder", "nemotron3_diarization")
_UNCUT = ("apertus1p5", "dots3_note_text", "dots3_note_vision_encoder", "fun_asr_nano", "nemo_speechlm")

RECORDED: Mapping[str, Json] = {
    path.stem: recorded["config"]
    for path in sorted(ARCHITECTURES.glob("*.json"))
    if (recorded := json.loads(path.read_text()))["judge"].startswith("transformers") and path.stem not in _UNCUT
}


@contextmanager
def quiet() -> Iterator[None]:
    """Without what transformers warns of: it is asked for its answer alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parsed(values: Json) -> Any:
    """The config object that transformers makes of a config.json."""
    with quiet():
        return transformers.CONFIG_MAPPING[values["model_type"]].from_dict(_finite_or_not(values))


def _finite_or_not(value: Any) -> Any:
    """A copy in which {"__float__": "Infinity"} is that number again."""
    if isinstance(value, dict):
        return float(value["__float__"]) if "__float__" in value else {k: _finite_or_not(v) for k, v in value.items()}
    return [_finite_or_not(one) for one in value] if isinstance(value, list) else value


def whole(values: Json) -> Json:
    """A config.json with all defaults of its type."""
    found: Json = json.loads(parsed(values).to_json_string(use_diff=False))
    return found


def class_of(values: Json) -> Any:
    """The class that a config.json names; without, the causal one of the type, or else the bare one."""
    if named := values.get("architectures"):
        if hasattr(transformers, named[0]):
            return getattr(transformers, named[0])
        module = transformers.CONFIG_MAPPING[values["model_type"]].__module__  # not all classes are exported
        return getattr(import_module(module.replace(".configuration_", ".modeling_")), named[0])
    causal = values["model_type"] in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return transformers.AutoModelForCausalLM if causal else transformers.AutoModel


@cache
def classes(model_type: str) -> tuple[str, ...]:
    """All classes that transformers builds from a type's config."""
    tables = [table for name, table in vars(modeling_auto).items() if name.endswith("MAPPING_NAMES")]
    found = [table[model_type] for table in tables if model_type in table]
    names = [one for entry in found for one in ((entry,) if isinstance(entry, str) else entry)]
    return tuple(dict.fromkeys(name for name in names if hasattr(transformers, name)))


def elements(values: Json) -> int:
    """Elements of a model, of which nothing is built."""
    with quiet(), torch.device("meta"):
        return sum(tensor.numel() for tensor in class_of(values)._from_config(parsed(values)).state_dict().values())


def fitted(values: Json) -> Json:
    """A config with its sizes, defaults included, cut down where it gives more than LIMIT elements."""
    if elements(values) <= LIMIT or values["model_type"] in _WHOLE:
        return deepcopy(values)
    return _merged(_capped(values, whole(values)), _FITTED.get(values["model_type"], {}))


def _merged(values: Json, changes: Json) -> Json:
    """A config with changes, also in its nested ones."""
    nested = {k: _merged(values[k], v) for k, v in changes.items() if isinstance(v, dict) and k in values}
    return values | changes | nested


def _capped(given: Json, defaults: Mapping[str, Any]) -> Json:
    result = dict(given)
    for key, value in defaults.items():
        if isinstance(value, dict) and ("model_type" in value or key.endswith("_config")):
            kind = {"model_type": value["model_type"]} if value.get("model_type") else {}
            result[key] = kind | _capped(given.get(key) or {}, value)
        elif type(value) is int and value > _CAPS.get(key, value):
            result[key] = _CAPS[key]
        elif key.endswith("token_id") and type(value) is int and value >= _CAPS["vocab_size"]:
            result[key] = 3
    return result


def keys(values: Json, *kinds: type, path: Path_ = ()) -> Iterator[Path_]:
    """Paths of the keys whose value is of one of these types."""
    for key, value in sorted(values.items()):
        if isinstance(value, dict):
            yield from keys(value, *kinds, path=(*path, key))
        elif type(value) in kinds:
            yield *path, key


def get(values: Any, path: Path_) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def put(values: Json, path: Path_, value: object) -> None:
    """Sets the value at a path whose objects are there."""
    for key in path[:-1]:
        values = values[key]
    values[path[-1]] = value


_RUNTIME = {"return_dict", "output_attentions", "output_hidden_states", "use_cache", "is_encoder_decoder"}


def odd(values: Json, rng: Random) -> Json:
    """A config with another class, other switches (biases, ties, norms) and sizes; transformers does not build all."""
    values, defaults = deepcopy(values), whole(values)
    if rng.random() < 0.4:
        values["architectures"] = [rng.choice(classes(values["model_type"]) or values["architectures"])]
    paths = [path for path in keys(defaults, bool, int) if len(path) == 1 or isinstance(get(values, path[:-1]), dict)]
    known = [path for path in paths if path[-1] not in _RUNTIME and not re.search("token_id|token_index", path[-1])]
    for path in rng.sample(known, min(len(known), rng.choice([1, 2, 3]))):
        old = get(defaults, path)
        sizes = (old + 1, 2 * old, *([] if path[-1] == "vocab_size" else [max(1, old - 1), max(1, old // 2), 1]))
        put(values, path, not old if isinstance(old, bool) else rng.choice(sizes))
    return values


@dataclass
class Checkpoint:
    """What a folder holds: `files` are further ones, or replace what would be written (None: not there)."""

    config: Json
    shards: dict[str, State]
    index: Json | None
    files: dict[str, bytes | None] = field(default_factory=dict)

    @property
    def tensors(self) -> State:
        """All tensors, of all shards."""
        return {name: tensor for shard in self.shards.values() for name, tensor in shard.items()}

    def copy(self) -> "Checkpoint":
        """One that can be changed without this one; tensors are shared, and never changed in place."""
        shards = {file: dict(tensors) for file, tensors in self.shards.items()}
        return Checkpoint(deepcopy(self.config), shards, deepcopy(self.index), dict(self.files))

    def reindex(self) -> None:
        """Writes the index again, as whoever saves these shards would; a single file has none."""
        if self.index is None:
            return
        weight_map = {name: file for file, shard in self.shards.items() for name in shard}
        total_size = sum(tensor.nbytes for tensor in self.tensors.values())
        self.index = {"metadata": {"total_size": total_size}, "weight_map": weight_map}

    def contents(self) -> dict[str, bytes]:
        """All files, by name."""
        made: dict[str, bytes | None] = {file: raw(one) for file, one in self.shards.items() if file not in self.files}
        made[CONFIG] = json.dumps(self.config).encode()
        if self.index is not None:
            made[INDEX] = json.dumps(self.index).encode()
        return {name: content for name, content in (made | self.files).items() if content is not None}

    @contextmanager
    def written(self, folder: Path) -> Iterator[Path]:
        """A new folder that holds all files, for as long as it is looked at."""
        folder.mkdir()
        for name, content in self.contents().items():
            (folder / name).write_bytes(content)
        yield folder
        rmtree(folder)


def raw(tensors: State) -> bytes:
    """A safetensors file."""
    return save({name: tensor.contiguous() for name, tensor in tensors.items()}, metadata={"format": "pt"})


def saved(values: Json, seed: int, shards: int, dtype: str = "float32") -> Checkpoint:
    """What `save_pretrained` writes of a model of this config, with random weights.

    Weights are multiples of 1/4 below 2, which every floating-point dtype of safetensors holds exactly.
    """
    with quiet(), TemporaryDirectory() as folder:
        torch.manual_seed(seed)
        model = class_of(values)._from_config(parsed(values)).to(getattr(torch, dtype))
        state = model.state_dict().values()
        for tensor in state:
            if tensor.is_floating_point():
                tensor.copy_(torch.randint(-7, 8, tensor.shape) / 4)
        size = sum(tensor.nbytes for tensor in state) // shards // 1000 + 1
        model.save_pretrained(folder, max_shard_size=f"{size}KB" if shards > 1 else "1TB")
        place = Path(folder)
        index = json.loads((place / INDEX).read_text()) if (place / INDEX).exists() else None
        files = {file.name: load(file.read_bytes()) for file in sorted(place.glob("*.safetensors"))}
        return Checkpoint(json.loads((place / CONFIG).read_text()), files, index)

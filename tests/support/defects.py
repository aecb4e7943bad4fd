"""Small checkpoints with one defect each, and the findings that they must have."""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gguf_files
import pickled as pickles
import pipeline_repos
from build import DEEPSEEK, Json, config
from gguf_files import model, projector, split, whole
from loopback import WIDTHS
from paths import ARCHITECTURES

import hfcount
from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import lerobot, mistral, open_clip
from hfcount.mapper import Config

INDEX, SINGLE, BIN_INDEX = "model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json"
FIRST, SECOND, THIRD = (f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3))

BIN = "pytorch_model.bin"
EMBED, HEAD, NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"
LAYER = "model.layers.1."

NO_FILES: Mapping[str, Any] = MappingProxyType({})

Tensors = dict[str, tuple[str, tuple[int, ...]]]
"""dtype and shape by name."""


@dataclass
class Checkpoint:
    """What a folder holds.

    Args:
        shards: the tensors of each file.
        weight_map: the index's, made from the shards when None; `{}` stands for no index.
        metadata: the index's; total_size is added unless it is there, and left out when it is None.
        damage: what becomes of a file's bytes on their way to the disk; None leaves the file out.
        others: further files, by their names.
    """

    config: Json
    shards: dict[str, Tensors] = field(default_factory=dict)
    weight_map: dict[str, str] | None = None
    metadata: Json = field(default_factory=dict)
    damage: dict[str, Callable[[bytes], bytes] | None] = field(default_factory=dict)
    others: dict[str, bytes] = field(default_factory=dict)

    @property
    def tensors(self) -> Tensors:
        """All tensors, of all shards."""
        return {name: one for shard in self.shards.values() for name, one in shard.items()}

    @property
    def data(self) -> int:
        """Bytes of all tensors."""
        return sum(size(*one) for shard in self.shards.values() for one in shard.values())

    def map(self) -> dict[str, str]:
        """The weight_map, to be changed."""
        if self.weight_map is None:
            self.weight_map = {name: file for file, tensors in self.shards.items() for name in tensors}
        return self.weight_map

    def change(self, edit: Callable[[str, str, tuple[int, ...]], tuple[str, tuple[int, ...]] | None]) -> None:
        """Stores each tensor as `edit(name, dtype, shape)` says, or leaves it out where that is None."""
        for tensors in self.shards.values():
            for name, one in list(tensors.items()):
                edited = edit(name, *one)
                if edited is None:
                    del tensors[name]
                else:
                    tensors[name] = edited

    def rename(self, edit: Callable[[str], str]) -> None:
        for file, tensors in self.shards.items():
            self.shards[file] = {edit(name): one for name, one in tensors.items()}

    def add(self, tensors: Mapping[str, tuple[str, tuple[int, ...]]], file: str = "") -> None:
        """Into a shard, the last when none is named."""
        self.shards[file or list(self.shards)[-1]].update(tensors)

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        files = {file: raw(tensors) for file, tensors in self.shards.items()}
        if self.weight_map != {}:
            metadata = {"total_size": self.data} | self.metadata
            metadata = {key: value for key, value in metadata.items() if value is not None}
            files[INDEX] = json.dumps({"metadata": metadata, "weight_map": self.map()}).encode()
        files["config.json"] = json.dumps(self.config).encode()
        files |= self.others
        for name, content in files.items():
            damage = self.damage.get(name, bytes)
            if damage is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(damage(content))
        return folder


@dataclass(frozen=True)
class Case:
    """A checkpoint and its expected report.

    Args:
        codes: the codes of all findings.
        says: texts that their messages must contain.
        make: makes a good checkpoint.
        spoil: damages it.
        unlisted: files on disk that the index does not name.
        reason: the kind of error that says why it is unverified; empty for none.
    """

    verdict: str
    codes: str = ""
    says: tuple[str, ...] = ()
    make: Callable[[], Checkpoint] = lambda: sharded()
    spoil: Callable[[Checkpoint], object] = lambda checkpoint: None
    unlisted: tuple[str, ...] = ()
    reason: str = ""


def size(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor."""
    return WIDTHS[dtype] * prod(shape)


def raw(tensors: Tensors) -> bytes:
    """A safetensors file of zeros."""
    header: Json = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, one in tensors.items():
        begin, end = end, end + size(*one)
        header[name] = {"dtype": one[0], "shape": list(one[1]), "data_offsets": [begin, end]}
    return with_header(b"", json.dumps(header, separators=(",", ":")).encode(), bytes(end))


def with_header(file: bytes, header: bytes, data: bytes | None = None) -> bytes:
    """A file with another header, padded, before its data."""
    header += b" " * (-len(header) % 8)
    if data is None:
        data = file[8 + int.from_bytes(file[:8], "little") :]
    return len(header).to_bytes(8, "little") + header + data


def header_of(file: bytes) -> bytes:
    return file[8 : 8 + int.from_bytes(file[:8], "little")].rstrip()


# Good checkpoints


def stored(values: Json, dtype: str = "BF16") -> Tensors:
    return {one.name: (dtype, tuple(map(int, one.shape))) for one in hfcount.blueprint(values).tensors()}


def sharded(family: str = "llama", names: tuple[str, ...] = (FIRST, SECOND, THIRD), **changes: Any) -> Checkpoint:
    """A family's tiny model in some shards; all sizes differ."""
    values = config(family, **({"head_dim": 6} | changes))
    tensors = list(stored(values).items())
    share = -(-len(tensors) // len(names))
    return Checkpoint(values, {name: dict(tensors[i * share :][:share]) for i, name in enumerate(names)})


def single(**changes: Any) -> Checkpoint:
    """One file, and no index."""
    checkpoint = sharded(names=(SINGLE,), **changes)
    checkpoint.weight_map = {}
    return checkpoint


def untied(**changes: Any) -> Checkpoint:
    """A model of images, in one file, whose class declares no tie."""
    values: Json = json.loads((ARCHITECTURES / "vit.json").read_text())["config"]
    return Checkpoint({**values, **changes}, {SINGLE: stored(values)}, weight_map={})


def wide() -> Checkpoint:
    """A model in one file whose class refuses heads that do not divide its width."""
    values: Json = json.loads((ARCHITECTURES / "bert.json").read_text())["config"]
    return Checkpoint(values, {SINGLE: stored(values)}, weight_map={})


def recorded() -> Checkpoint:
    """A type that no family describes, in one file, with more heads than any that it was recorded with."""
    values = {
        "model_type": "dory",
        "architectures": ["DoryForCausalLM"],
        "dtype": "bfloat16",
        "vocab_size": 9,
        "hidden_size": 6,
        "intermediate_size": 10,
        "num_hidden_layers": 2,
        "num_attention_heads": 82,
        "num_key_value_heads": 41,
        "head_dim": 2,
    }
    return Checkpoint(values, {SINGLE: stored(values)}, weight_map={})


def seeing(whole: bool, inner: bool) -> Checkpoint:
    """A LLaVA-NeXT without a head, in one file without an index, whose tie is written at two levels."""
    size = {"image_size": 8, "patch_size": 4, "projection_dim": 6}
    vision = {"hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 2, "num_attention_heads": 2, **size}
    text = {key: value for key, value in config("llama").items() if key != "architectures"}
    values = {
        "model_type": "llava_next",
        "architectures": ["LlavaNextForConditionalGeneration"],
        "dtype": "bfloat16",
        "vision_config": {"model_type": "clip_vision_model", **vision},
        "text_config": text | {"tie_word_embeddings": inner},
        "tie_word_embeddings": whole,
        "image_token_index": 3,
        "vision_feature_layer": -2,
    }
    return Checkpoint(values, {SINGLE: stored(values)}, weight_map={})


def tied() -> Checkpoint:
    return sharded("qwen3", tie_word_embeddings=True)


def large() -> Checkpoint:
    """Files of which the headers are a small part."""
    return sharded(hidden_size=192, intermediate_size=320, vocab_size=400, num_attention_heads=4, head_dim=24)


def pickled(second: int, **metadata: Any) -> Checkpoint:
    """The same as .bin files of zeros, of which the second has so many bytes."""
    checkpoint = large()
    names = {name: f"pytorch_model-0000{number}-of-00003.bin" for number, name in enumerate((FIRST, SECOND, THIRD), 1)}
    weight_map = {name: names[file] for file, held in checkpoint.shards.items() for name in held}
    index = {"metadata": {"total_size": checkpoint.data} | metadata, "weight_map": weight_map}
    files = {name: bytes(data_of(checkpoint, file) + 900) for file, name in names.items()} | {
        names[SECOND]: bytes(second)
    }
    return Checkpoint(checkpoint.config, weight_map={}, others=files | {BIN_INDEX: json.dumps(index).encode()})


def saved(made: Callable[[Tensors], bytes], beside: bool = False) -> Checkpoint:
    """A model in one file of torch.save, as `made` writes its tensors; or with that beside the same in safetensors."""
    checkpoint = single()
    checkpoint.others = {BIN: made(dict(checkpoint.tensors))}
    if not beside:
        checkpoint.shards = {}
    return checkpoint


def boxed(tensors: Tensors, **options: Any) -> bytes:
    """What torch.save writes of tensors; `options` of `pickles.items`."""
    return pickles.archive(pickles.state(**pickles.items(tensors, **options)), pickles.zeros(tensors))


def nested(tensors: Tensors) -> bytes:
    inner = b"}(" + b"".join(pickles.text(name) + made for name, made in pickles.items(tensors).items()) + b"u"
    return pickles.archive(pickles.pickle(b"}" + pickles.text("state_dict") + inner + b"s"), pickles.zeros(tensors))


def without_values(tensors: Tensors) -> bytes:
    """The norm of the last layer as a tensor of the meta device."""
    shape = tensors[NORM][1]
    made = pickles.called(
        "torch._utils._rebuild_meta_tensor_no_storage",
        pickles.function("torch.bfloat16"),
        pickles.numbers(shape),
        pickles.numbers([1]),
        b"\x89",
    )
    return boxed(tensors, more={NORM: made})


def misplaced() -> Checkpoint:
    """Two files of torch.save, of which an index puts one tensor in the wrong one."""
    checkpoint = single()
    files = [f"pytorch_model-0000{number}-of-00002.bin" for number in (1, 2)]
    tensors = [*checkpoint.tensors.items()]
    parts = [dict(tensors[:4]), dict(tensors[4:])]
    places = {name: file for part, file in zip(parts, files, strict=True) for name in part}
    places[tensors[0][0]] = files[1]
    index = {"metadata": {"total_size": checkpoint.data}, "weight_map": places}
    checkpoint.others = {file: boxed(part) for part, file in zip(parts, files, strict=True)}
    checkpoint.others[BIN_INDEX], checkpoint.shards = json.dumps(index).encode(), {}
    return checkpoint


def data_of(checkpoint: Checkpoint, file: str = SECOND) -> int:
    """Bytes of a file's tensors."""
    return sum(size(*one) for one in checkpoint.shards[file].values())


def text_to_text(**changes: Any) -> Checkpoint:
    """A T5, in one file without an index."""
    sizes = {
        "d_model": 12,
        "d_kv": 3,
        "num_heads": 4,
        "d_ff": 20,
        "num_layers": 2,
        "vocab_size": 50,
        "relative_attention_num_buckets": 8,
    }
    kind = {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "dtype": "bfloat16"}
    return Checkpoint(values := kind | sizes | changes, {SINGLE: stored(values)}, {})


def predicted_words() -> Checkpoint:
    """A BERT that predicts words, in one file without an index."""
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 20}
    rows = {"vocab_size": 50, "max_position_embeddings": 16, "type_vocab_size": 2}
    kind = {"architectures": ["BertForMaskedLM"], "model_type": "bert", "dtype": "bfloat16"}
    return Checkpoint(values := kind | sizes | rows, {SINGLE: stored(values)}, {})


def predicting(with_layers: bool) -> Checkpoint:
    """A model that announces layers of multi-token prediction, with or without them."""
    rows = hfcount.blueprint(DEEPSEEK).tensors(stored=False)
    kept = [one for one in rows if one.kind in ("parameter", "buffer") or (with_layers and "auxiliary" in one.kind)]
    return Checkpoint(DEEPSEEK, {FIRST: {one.name: ("BF16", tuple(map(int, one.shape))) for one in kept}})


def with_packed_experts() -> Checkpoint:
    """Experts as transformers holds them: in two tensors, one of gates and ups."""
    checkpoint = sharded("qwen3_moe")
    d, width, experts = (checkpoint.config[key] for key in ("hidden_size", "moe_intermediate_size", "num_experts"))
    checkpoint.change(lambda name, *one: None if ".experts." in name else one)
    for number in range(3):
        start = f"model.layers.{number}.mlp.experts."
        checkpoint.add({f"{start}gate_up_proj": ("BF16", (experts, 2 * width, d))}, FIRST)
        checkpoint.add({f"{start}down_proj": ("BF16", (experts, d, width))}, SECOND)
    return checkpoint


def zero_based() -> Checkpoint:
    return sharded(names=tuple(f"model-0000{number}-of-00003.safetensors" for number in range(3)))


def six_digits() -> Checkpoint:
    return sharded(names=("model-00001-of-000002.safetensors", "model-00002-of-000002.safetensors"))


def one_each() -> Checkpoint:
    whole = sharded()
    return Checkpoint(whole.config, {f"{name}.safetensors": {name: one} for name, one in whole.tensors.items()})


def in_folders() -> Checkpoint:
    return sharded(names=("weights/a.safetensors", "weights/more/b #1?.safetensors", "c d+e&f.safetensors"))


def float16() -> Checkpoint:
    checkpoint = sharded()
    checkpoint.change(lambda name, dtype, shape: ("F16", shape))
    return checkpoint


ADAPTER, ADAPTED = "adapter_config.json", "adapter_model.safetensors"


def adapter(modules: tuple[str, ...] = ("q_proj", "down_proj"), rank: int = 2, **settings: Any) -> Checkpoint:
    """A LoRA adapter beside the config of its base, a Llama of three layers."""
    values = config("llama", head_dim=6)
    known = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "target_modules": list(modules)} | settings
    tensors: Tensors = {}
    for name, (_, shape) in stored(values).items():
        if name.endswith(tuple(f"{module}.weight" for module in modules)):
            path = f"base_model.model.{name.removesuffix('.weight')}"
            tensors[f"{path}.lora_A.weight"] = ("F32", (rank, shape[1]))
            tensors[f"{path}.lora_B.weight"] = ("F32", (shape[0], rank))
    return Checkpoint(values, {ADAPTED: tensors}, {}, others={ADAPTER: json.dumps(known).encode()})


def mlx_adapter() -> Checkpoint:
    """A LoRA of mlx-lm beside the config of its base, a Llama of three layers."""
    settings = {
        "fine_tune_type": "lora",
        "num_layers": 2,
        "lora_parameters": {"rank": 2, "scale": 20.0, "dropout": 0.0},
    }
    settings["lora_parameters"] |= {"keys": ["self_attn.q_proj"]}
    tensors: Tensors = {}
    for layer in (1, 2):
        path = f"model.layers.{layer}.self_attn.q_proj"
        tensors |= {f"{path}.lora_a": ("F32", (12, 2)), f"{path}.lora_b": ("F32", (2, 24))}
    others = {ADAPTER: json.dumps(settings).encode()}
    return Checkpoint(config("llama", head_dim=6), {"adapters.safetensors": tensors}, {}, others=others)


def diffusion_lora() -> Checkpoint:
    """A LoRA of a diffusion model, which has no config."""
    path = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q"
    tensors: Tensors = {f"{path}.lora_A.weight": ("F32", (4, 32)), f"{path}.lora_B.weight": ("F32", (32, 4))}
    return Checkpoint({}, {"pytorch_lora_weights.safetensors": tensors}, {}, damage={"config.json": None})


def setting(**changes: Any) -> Callable[[Checkpoint], None]:
    """The adapter's settings say other than what is stored."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.others[ADAPTER] = json.dumps(json.loads(checkpoint.others[ADAPTER]) | changes).encode()

    return spoil


def beside_it(checkpoint: Checkpoint, **settings: Any) -> None:
    """Puts an adapter beside the model."""
    made = adapter(base_model_name_or_path=None)
    checkpoint.shards.update(made.shards)
    checkpoint.others.update(made.others)
    setting(**settings)(checkpoint)


def adding(**tensors: tuple[int, ...]) -> Callable[[Checkpoint], None]:
    """Further tensors of an adapter; two underscores stand for a dot."""
    more = {f"base_model.model.{name.replace('__', '.')}": ("F32", shape) for name, shape in tensors.items()}
    return lambda checkpoint: checkpoint.add(more)


def renaming(old: str, new: str) -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.rename(lambda name: name.replace(old, new))


# Edits that several rows share


def _under(checkpoint: Checkpoint, start: str, other: str) -> Tensors:
    """The tensors, of which those whose names begin so have another beginning."""
    return {name.replace(f"{start}.", f"{other}.", 1): one for name, one in checkpoint.tensors.items()}


def into(dtype: str, *ends: str) -> Callable[[Checkpoint], None]:
    """Stores the tensors whose names end so in another dtype."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.change(lambda name, own, shape: (dtype if name.endswith(ends) else own, shape))

    return spoil


def says(**changes: Any) -> Callable[[Checkpoint], None]:
    """The config says other than what is stored."""
    return lambda checkpoint: checkpoint.config.update(changes)


def file(damage: Callable[[bytes], bytes] | None, *names: str) -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.damage.update(dict.fromkeys(names or (SECOND,), damage))


def edit_header(edit: Callable[[Json], object]) -> Callable[[Checkpoint], None]:
    """Changes the entries of the second shard's header."""

    def damage(content: bytes) -> bytes:
        header = json.loads(header_of(content))
        edit(header)
        return with_header(content, json.dumps(header).encode())

    return file(damage)


def entries(header: Json) -> list[Json]:
    """In the order of the data."""
    return [entry for name, entry in header.items() if name != "__metadata__"]


def without(*starts: str) -> Callable[[Checkpoint], None]:
    """The tensors whose names begin so are nowhere."""
    return lambda checkpoint: checkpoint.change(lambda name, *one: None if name.startswith(starts) else one)


def claims(**metadata: Any) -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.metadata.update(metadata)


def twice(name: str = NORM, place: str = FIRST, shape: tuple[int, ...] = (12,)) -> Callable[[Checkpoint], None]:
    """A tensor is in another file, too; the index names the one that is meant."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.map()
        checkpoint.metadata["total_size"] = checkpoint.data
        checkpoint.add({name: ("BF16", shape)}, place)

    return spoil


def leftovers(checkpoint: Checkpoint) -> None:
    checkpoint.add({"mtp.fc.weight": ("BF16", (12, 24))})


def index_says(name: str, place: str | None) -> Callable[[Checkpoint], None]:
    def spoil(checkpoint: Checkpoint) -> None:
        if place is None:
            del checkpoint.map()[name]
        else:
            checkpoint.map()[name] = place

    return spoil


def lost(name: str, file: str) -> Callable[[Checkpoint], None]:
    """The index and its sum still have a tensor that the shard has lost."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.map()
        checkpoint.metadata["total_size"] = checkpoint.data
        del checkpoint.shards[file][name]

    return spoil


def another_layer(checkpoint: Checkpoint) -> None:
    checkpoint.add(
        {name.replace(LAYER, "model.layers.3."): one for name, one in checkpoint.tensors.items() if LAYER in name}
    )


def frequencies(dtype: str) -> Callable[[Checkpoint], None]:
    """What transformers before 4.32 wrote beside each layer's attention."""
    return lambda checkpoint: checkpoint.add(
        {f"model.layers.{number}.self_attn.rotary_emb.inv_freq": (dtype, (3,)) for number in range(3)}
    )


def copy_of_the_head(counted: bool = True) -> Callable[[Checkpoint], None]:
    def spoil(checkpoint: Checkpoint) -> None:
        if not counted:
            checkpoint.metadata["total_size"] = checkpoint.data
        checkpoint.add({HEAD: ("BF16", (50, 12))})

    return spoil


def placeholder(checkpoint: Checkpoint) -> None:
    """A file that holds an entry without a dtype for a head that is tied."""
    checkpoint.shards["head.safetensors"] = {HEAD: ("BF16", (0,))}
    checkpoint.damage["head.safetensors"] = lambda content: with_header(
        content, header_of(content).replace(b"BF16", b"").replace(b"[0]", b"[]")
    )


def packed(**parts: tuple[str, tuple[int, ...]]) -> Callable[[Checkpoint], None]:
    """Every projection of the layers is stored in parts, `weight` among them where it stays."""

    def spoil(checkpoint: Checkpoint) -> None:
        for tensors in checkpoint.shards.values():
            for name in [name for name in tensors if name.endswith("_proj.weight")]:
                del tensors[name]
                tensors.update({name.replace("weight", part): one for part, one in parts.items()})

    return spoil


GPTQ = packed(qweight=("I32", (3, 12)), qzeros=("I32", (1, 3)), scales=("F16", (1, 12)), g_idx=("I32", (12,)))
FP8 = packed(weight=("F8_E4M3", (12, 12)), weight_scale_inv=("F32", (1, 1)))
IN_BLOCKS = {"quant_method": "fp8", "weight_block_size": [16, 16]}
SCALE = "model.layers.1.mlp.up_proj.weight_scale_inv"


def in_blocks(checkpoint: Checkpoint) -> None:
    """Every projection of the layers as FP8 with a scale for each block of 16×16, as the config says."""
    checkpoint.config["quantization_config"] = IN_BLOCKS
    for tensors in checkpoint.shards.values():
        for name, (_, (rows, columns)) in [one for one in tensors.items() if one[0].endswith("_proj.weight")]:
            tensors[name] = ("F8_E4M3", (rows, columns))
            tensors[f"{name}_scale_inv"] = ("F32", (-(-rows // 16), -(-columns // 16)))


def in_stacks(checkpoint: Checkpoint) -> None:
    """The scales of a layer's experts in one tensor, as transformers 5 saves them."""
    d, width, experts = (checkpoint.config[key] for key in ("hidden_size", "moe_intermediate_size", "num_experts"))
    checkpoint.change(lambda name, *one: None if ".experts." in name and "_scale_inv" in name else one)
    for number in range(3):
        start = f"model.layers.{number}.mlp.experts."
        checkpoint.add({f"{start}gate_up_proj_scale_inv": ("F32", (experts, -(-2 * width // 16), -(-d // 16)))})
        checkpoint.add({f"{start}down_proj_scale_inv": ("F32", (experts, -(-d // 16), -(-width // 16)))})


def in_channels(checkpoint: Checkpoint) -> None:
    """Every projection of the layers as FP8 with a scale for each row, by settings that say 4 bits."""
    weights = {"num_bits": 4, "type": "float", "strategy": "channel"}
    groups = {"all": {"targets": ["Linear"], "weights": weights}}
    form = {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"]}
    checkpoint.config["quantization_config"] = form | {"config_groups": groups}
    for tensors in checkpoint.shards.values():
        for name, (_, shape) in [one for one in tensors.items() if one[0].endswith("_proj.weight")]:
            tensors[name] = ("F8_E4M3", shape)
            tensors[f"{name}_scale"] = ("BF16", (shape[0], 1))


GROUPS = "model.layers.1.mlp.up_proj."


def in_groups(checkpoint: Checkpoint) -> None:
    """Every matrix as MLX packs it: 8 bits in groups of 4, if MLX had such."""
    checkpoint.config |= {"quantization": {"bits": 8, "group_size": 4}, "rms_norm_eps": 1e-6}
    for tensors in checkpoint.shards.values():
        for name, (_, shape) in [one for one in tensors.items() if len(one[1][1]) == 2]:
            tensors[name] = ("U32", (shape[0], shape[1] // 4))
            for part in ("scales", "biases"):
                tensors[name.replace("weight", part)] = ("BF16", (shape[0], shape[1] // 4))


def into_one(name: str, dtype: str, shape: tuple[int, ...]) -> Callable[[Checkpoint], None]:
    """One tensor is stored otherwise."""
    return lambda checkpoint: checkpoint.change(lambda own, *one: (dtype, shape) if own == name else one)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 4976698672\n"
PAGE = b"<!DOCTYPE html><html><title>Sign in</title></html>"


def both(*spoils: Callable[[Checkpoint], object]) -> Callable[[Checkpoint], None]:
    def spoil(checkpoint: Checkpoint) -> None:
        for one in spoils:
            one(checkpoint)

    return spoil


def stale_files(checkpoint: Checkpoint) -> None:
    """Another conversion of the same model, in two shards, lies beside it."""
    checkpoint.map()
    checkpoint.metadata["total_size"] = checkpoint.data
    checkpoint.shards |= sharded(intermediate_size=99, names=UNLISTED).shards


def beside(name: str, content: bytes = b"{}") -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.others.update({name: content})


def one_file_beside(*without: str, **changes: Any) -> Callable[[Checkpoint], None]:
    """The same model in one file beside its shards, less some tensors, or of another config."""

    def spoil(checkpoint: Checkpoint) -> None:
        other = sharded(**changes).tensors if changes else checkpoint.tensors
        tensors = {name: one for name, one in other.items() if name not in without}
        checkpoint.others[SINGLE] = raw(tensors)

    return spoil


POOLING: Json = {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True}
DENSE: Json = {"in_features": 12, "out_features": 4, "bias": False}


def embedding(
    *without: str,
    pooling: Json = POOLING,
    dense: Json = DENSE,
    kinds: Mapping[str, str] = MappingProxyType({"2_Dense": "Dense", "3_Normalize": "Normalize"}),
) -> Callable[[Checkpoint], None]:
    """What sentence-transformers saves around a model, less some files."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", **kinds}
    modules = [
        {"name": kind, "path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()
    ]
    values = {"modules.json": modules, "1_Pooling/config.json": pooling, "2_Dense/config.json": dense}
    files = {name: json.dumps(value).encode() for name, value in values.items()}
    files["2_Dense/model.safetensors"] = raw({"linear.weight": ("F32", (4, 12))})

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.others |= {name: content for name, content in files.items() if not name.startswith(without)}

    return spoil


PARAMS: Json = {
    "dim": 12,
    "n_layers": 3,
    "head_dim": 6,
    "hidden_dim": 20,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 50,
    "norm_eps": 1e-05,
}


def consolidated(*without: str, **changes: int) -> Callable[[Checkpoint], None]:
    """Mistral's own form of the same model beside it, less some tensors, or with another params.json."""

    def spoil(checkpoint: Checkpoint) -> None:
        tensors = {one.name: one.shape for one in mistral.blueprint(PARAMS, "params.json").tensors()}
        kept = {name: ("BF16", shape) for name, shape in tensors.items() if name not in without}
        checkpoint.others |= {"consolidated.safetensors": raw(kept)}
        checkpoint.others |= {"params.json": json.dumps(PARAMS | changes).encode()}

    return spoil


OPEN_CLIP: Json = {
    "embed_dim": 12,
    "custom_text": True,
    "vision_cfg": {"image_size": 8, "patch_size": 4, "width": 16, "head_width": 8, "layers": 2},
    "text_cfg": {"context_length": 7, "vocab_size": 50, "width": 20, "heads": 2, "layers": 3},
}
ACT: Json = {
    "type": "act",
    "input_features": {
        "observation.state": {"type": "STATE", "shape": [6]},
        "observation.environment_state": {"type": "ENV", "shape": [4]},
    },
    "output_features": {"action": {"type": "ACTION", "shape": [5]}},
    "dim_model": 16,
    "n_heads": 2,
    "dim_feedforward": 20,
    "chunk_size": 10,
    "n_action_steps": 10,
    "latent_dim": 3,
}
STATISTICS: Tensors = {f"unnormalize_outputs.buffer_action.{name}": ("F32", (5,)) for name in ("mean", "std")}


def held(values: Json) -> Tensors:
    """All tensors of a config as families read it, in F32."""
    return {one.name: ("F32", one.shape) for one in build(Config(values)).tensors()}


def clip(early: bool = False) -> Checkpoint:
    """A model of open_clip, perhaps with the names that a text tower had when it stood at the top."""
    document = {"model_cfg": OPEN_CLIP, "preprocess_cfg": {}}
    tensors = held(open_clip.config(document, ""))
    if early:
        tensors = {name.removeprefix("text."): one for name, one in tensors.items()}
    others = {"open_clip_config.json": json.dumps(document).encode()}
    checkpoint = Checkpoint({}, {"open_clip_model.safetensors": tensors}, {}, others=others)
    checkpoint.damage["config.json"] = None
    return checkpoint


def policy(further: Tensors, *files: str, **documents: Json) -> Checkpoint:
    """A policy of LeRobot, with further tensors and files."""
    tensors = held(lerobot.config(ACT, "")) | further
    others = {**dict.fromkeys(files, b"{}"), **{name: json.dumps(one).encode() for name, one in documents.items()}}
    return Checkpoint(ACT, {SINGLE: tensors}, {}, others=others)


NEOX: Json = {
    "architectures": ["GPTNeoXForCausalLM"],
    "model_type": "gpt_neox",
    "torch_dtype": "bfloat16",
    "vocab_size": 50,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "max_position_embeddings": 8,
}


def adds(tokens: Json) -> Callable[[Checkpoint], None]:
    """The tokenizer has these tokens besides."""
    return lambda checkpoint: checkpoint.others.update({"added_tokens.json": json.dumps(tokens).encode()})


TOKENIZER = b'{"added_tokens": [], "model": {}}'


def spoken(template: str = "", ends: int = 2, kind: str = "T", **files: bytes) -> Callable[[Checkpoint], object]:
    """Lays a tokenizer and a generation config beside the model; `files` are further ones, by the name before .json."""
    decoder = {"2": {"content": "</s>"}, "48": {"content": "<|im_end|>"}}
    settings = {
        "tokenizer_class": kind,
        "eos_token": "</s>",
        "chat_template": template,
        "added_tokens_decoder": decoder,
    }
    documents = {"tokenizer_config.json": settings, "generation_config.json": {"eos_token_id": ends}}
    others = {name: json.dumps(document).encode() for name, document in documents.items()}
    return lambda checkpoint: checkpoint.others.update(
        others | {f"{name}.json": content for name, content in ({"tokenizer": TOKENIZER} | files).items() if content}
    )


def masks(checkpoint: Checkpoint) -> None:
    """What transformers once wrote beside each layer's attention, and how it then took booleans."""
    checkpoint.metadata["total_size"] = checkpoint.data + 2 * 8 * 8 / 8
    checkpoint.add({f"gpt_neox.layers.{number}.attention.bias": ("BOOL", (1, 1, 8, 8)) for number in range(2)})


def sum_of_file_sizes(checkpoint: Checkpoint) -> None:
    checkpoint.metadata["total_size"] = sum(len(raw(tensors)) for tensors in checkpoint.shards.values())


UNLISTED = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
TOTAL = 2 * 50 * 12 + 3 * (2 * 24 * 12 + 2 * 12 * 12 + 3 * 20 * 12 + 2 * 12) + 12
"""Parameters of the tiny llama, counted by hand."""

VECTORS = 7 * 12


def gguf(
    files: Mapping[str, bytes] = NO_FILES,
    config: Mapping[str, Any] = NO_FILES,
    pairs: Mapping[str, Any] = NO_FILES,
    more: Mapping[str, tuple[int, ...]] = NO_FILES,
    lost: str = "",
    cut: int = 0,
) -> Checkpoint:
    """A config beside such GGUF files, or beside one of it.

    Args:
        config, pairs: changes to the config and to the file's metadata.
        more, lost: shapes of further tensors, and a tensor that is left out.
        cut: bytes that are left off at its end; below 0, those that follow it.
    """
    own, shapes = model()
    held = {name: shape for name, shape in {**shapes, **more}.items() if name != lost}
    raw = whole({**own, **pairs}, held)
    one = {"m.gguf": (raw + bytes(100))[: len(raw) - cut]}
    return Checkpoint({**gguf_files.CONFIG, **config}, weight_map={}, others=dict(files or one))


def gguf_lora(pairs: Mapping[str, Any] = NO_FILES, more: Mapping[str, tuple[int, ...]] = NO_FILES) -> Checkpoint:
    """A LoRA beside the config of its base.

    Args:
        pairs, more: changes to its metadata and tensors.
    """
    halves = {"blk.0.attn_q.weight.lora_a": (8, 64), "blk.0.attn_q.weight.lora_b": (96, 8)}
    return gguf(files={"lora.gguf": whole({**gguf_files.LORA, **pairs}, {**halves, **more})})


def wordless() -> bytes:
    """A GGUF file without the tokenizer."""
    own, shapes = model()
    return whole({key: value for key, value in own.items() if not key.startswith("tokenizer.")}, shapes)


def all_pickled() -> dict[str, bytes]:
    """The pickled weights of each part of a pipeline."""
    names = {part: path.replace("safetensors", "bin") for part, path in pipeline_repos.WEIGHTS.items()}
    names["text_encoder"] = "text_encoder/pytorch_model.bin"
    configs = {part: pipeline_repos.STABLE[f"{part}/config.json"] for part in names}
    return {path: pipeline_repos.pickled(pipeline_repos.described(configs[part])) for part, path in names.items()}


class Piped(Checkpoint):
    """A pipeline of diffusers, as `pipeline` makes it."""

    def __init__(self, *edits: pipeline_repos.Edit, **make: Any) -> None:
        super().__init__({}, weight_map={})
        self.edits, self.make = edits, make

    def write(self, folder: Path) -> Path:
        return pipeline_repos.pipeline(folder, *self.edits, **self.make)


UNET, VARIANT = pipeline_repos.WEIGHTS["unet"], "fp16.safetensors"
IN_VARIANT = {path: path.replace("safetensors", VARIANT) for path in pipeline_repos.WEIGHTS.values()}


ON_DISK = (
    "an added token with the id of a word",
    "a word that the scheduler does not take",
    "a tokenizer without a length",
)
"""Cases that files tell of which a Hub is not asked for."""

CASES: dict[str, Case] = {
    # Nothing is wrong
    "three shards": Case("verified"),
    "one file without an index": Case("verified", make=single),
    "one file with an index": Case("verified", make=lambda: sharded(names=("model-00001-of-00001.safetensors",))),
    "tied": Case("verified", make=tied),
    "mixtral": Case("verified", make=lambda: sharded("mixtral")),
    "qwen2": Case("verified", make=lambda: sharded("qwen2")),
    "qwen3-moe": Case("verified", make=lambda: sharded("qwen3_moe")),
    "the base model alone": Case("verified", make=lambda: sharded(architectures=["LlamaModel"])),
    "shards numbered from 0": Case("verified", make=zero_based),
    "six digits": Case("verified", make=six_digits),
    "one file for each tensor": Case("verified", make=one_each),
    "files in folders": Case("verified", make=in_folders),
    "float16, and the config names no dtype": Case("verified", make=float16, spoil=says(dtype=None)),
    "total_parameters": Case("verified", spoil=claims(total_parameters=TOTAL)),
    "total_size is a float": Case("verified", spoil=claims(total_size=2.0 * TOTAL)),
    "metadata null in a header": Case("verified", spoil=edit_header(lambda header: header.update(__metadata__=None))),
    "further fields": Case("verified", spoil=edit_header(lambda header: entries(header)[0].update(strides=[1]))),
    "a header in another order": Case(
        "verified",
        spoil=edit_header(lambda header: header.update({name: header.pop(name) for name in list(header)[:3]})),
    ),
    "a header padded to 64 kB": Case(
        "verified", spoil=file(lambda content: with_header(content, header_of(content).ljust(70_000)))
    ),
    "a key that nobody reads": Case("verified", "HF102", ("num_towers",), spoil=says(num_towers=3)),
    # Files
    "truncated": Case(
        "mismatch", "HF004", (SECOND, "7 bytes are missing", "1 tensor ends"), spoil=file(lambda content: content[:-7])
    ),
    "truncated to its header": Case(
        "mismatch", "HF004", (SECOND,), spoil=file(lambda content: content[: 8 + int.from_bytes(content[:8], "little")])
    ),
    "pickled files of zeros": Case("mismatch", "HF003", ("zeros", "3 files are broken"), make=lambda: pickled(2_000)),
    "a pickled file that is cut off": Case(
        "mismatch", "HF004", (BIN, "is cut off", "at least"), make=lambda: saved(lambda tensors: boxed(tensors)[:-50])
    ),
    "a pickled file that calls": Case(
        "mismatch",
        "HF701",
        (BIN, "os.system", "hfcount ran nothing of it"),
        make=lambda: saved(lambda some: boxed(some, more={"x": pickles.called("os.system", pickles.text("exit"))})),
    ),
    "a pickled file that calls beside": Case(
        "explained",
        "HF701",
        ("os.system",),
        make=lambda: saved(
            lambda some: boxed(some, more={"x": pickles.called("os.system", pickles.text("exit"))}), True
        ),
    ),
    "a state dict under a key": Case(
        "mismatch", "HF702", ('["state_dict"] (all that LlamaForCausalLM needs',), make=lambda: saved(nested)
    ),
    "a storage of two tensors": Case(
        "verified",
        "HF703",
        (EMBED, HEAD, "one tensor"),
        make=lambda: saved(lambda tensors: boxed(tensors, ties={HEAD: EMBED})),
    ),
    "another model beside": Case(
        "explained",
        "HF704",
        ("pytorch_model.bin beside the safetensors files holds another model", "it lacks 1 tensor, such as lm_head"),
        make=lambda: saved(lambda tensors: boxed({k: v for k, v in tensors.items() if k != HEAD}), True),
    ),
    "a protocol that is refused": Case(
        "mismatch",
        "HF705 HF707",
        ("MEMOIZE",),
        make=lambda: saved(lambda tensors: boxed(tensors, more={"x": b"K\1\x94"})),
    ),
    "a tensor without values": Case("mismatch", "HF706", (NORM, "meta"), make=lambda: saved(without_values)),
    "a value in a state dict": Case(
        "explained",
        "HF707",
        ("1 value in its state dict is not a tensor: epoch",),
        make=lambda: saved(lambda tensors: boxed(tensors, more={"epoch": pickles.number(3)})),
    ),
    "bytes behind a pickled file": Case(
        "verified",
        "HF708",
        ("100 bytes follow",),
        make=lambda: saved(lambda tensors: boxed(tensors) + bytes(100)),
    ),
    "an index of pickled files that errs": Case(
        "mismatch", "HF205", (EMBED, "the wrong file for 1 tensor"), make=misplaced
    ),
    "padded": Case(
        "mismatch", "HF004", (SECOND, "512 bytes too many"), spoil=file(lambda content: content + bytes(512))
    ),
    "a shard is missing": Case("mismatch", "HF005", (SECOND,), spoil=file(None)),
    "all shards but one are missing": Case("mismatch", "HF005", (SECOND, THIRD), spoil=file(None, SECOND, THIRD)),
    "Git LFS pointer": Case("mismatch", "HF003", (SECOND, "Git LFS"), spoil=file(lambda content: LFS)),
    "Git LFS pointers": Case(
        "mismatch",
        "HF003",
        ("30 files are broken", "27 more", "git lfs pull"),
        make=one_each,
        spoil=lambda checkpoint: file(lambda content: LFS, *checkpoint.shards)(checkpoint),
    ),
    "HTML page": Case("mismatch", "HF003", (SECOND, "HTML"), spoil=file(lambda content: PAGE)),
    "an empty file": Case("mismatch", "HF003", (SECOND, "0 bytes"), spoil=file(lambda content: b"")),
    "five bytes": Case("mismatch", "HF003", (SECOND, "5 bytes"), spoil=file(lambda content: content[:5])),
    "cut off within the header": Case(
        "mismatch", "HF003", (SECOND, "cut off"), spoil=file(lambda content: content[:99])
    ),
    # Headers
    "a length beyond the file": Case(
        "mismatch", "HF003", (SECOND,), spoil=file(lambda content: (10**6).to_bytes(8, "little") + content[8:])
    ),
    "a length beyond the format": Case(
        "mismatch", "HF003", (SECOND,), spoil=file(lambda content: content[:8][::-1] + content[8:])
    ),
    "a length that is short": Case(
        "mismatch", "HF003", (SECOND,), spoil=file(lambda content: (64).to_bytes(8, "little") + content[8:])
    ),
    "a hole": Case(
        "mismatch",
        "HF003",
        (SECOND, "hole"),
        spoil=edit_header(lambda header: entries(header)[0].update(shape=[1], data_offsets=[2, 4])),
    ),
    "an overlap": Case(
        "mismatch",
        "HF003",
        (SECOND, "overlap"),
        spoil=edit_header(
            lambda header: entries(header)[1].update(
                {key: entries(header)[0][key] for key in ("shape", "data_offsets")}
            )
        ),
    ),
    "a shape of another size": Case(
        "mismatch", "HF003", (SECOND,), spoil=edit_header(lambda header: entries(header)[0].update(shape=[1]))
    ),
    "an unknown dtype": Case(
        "mismatch", "HF003", (SECOND, "X7"), spoil=edit_header(lambda header: entries(header)[0].update(dtype="X7"))
    ),
    "a name twice in a header": Case(
        "mismatch",
        "HF003",
        (SECOND, "duplicate key"),
        spoil=file(lambda content: with_header(content, b'{"__metadata__":{},' + header_of(content)[1:])),
    ),
    # Index and headers
    "a tensor in two files": Case("mismatch", "HF206", (NORM, FIRST, THIRD), spoil=twice()),
    "a tensor in two files, counted twice": Case(
        "mismatch", "HF206", (NORM,), spoil=both(twice(), claims(total_size=2 * TOTAL + 24))
    ),
    "a stale copy of another shape in a later file": Case(
        "mismatch", "HF206", (EMBED, FIRST, THIRD), spoil=twice(EMBED, THIRD, (56, 12))
    ),
    "a stale copy of another shape in an earlier file": Case(
        "mismatch", "HF206", (NORM, FIRST, THIRD), spoil=twice(NORM, FIRST, (16,))
    ),
    "leftovers that the index omits": Case(
        "mismatch", "HF205", ("mtp.fc.weight",), spoil=both(Checkpoint.map, claims(total_size=2 * TOTAL), leftovers)
    ),
    "a tensor in the wrong file": Case(
        "mismatch", "HF205", (NORM, f"{FIRST}, but it is in {THIRD}"), spoil=index_says(NORM, FIRST)
    ),
    "a tensor that the index omits": Case("mismatch", "HF205", (NORM, "omits 1 tensor"), spoil=index_says(NORM, None)),
    "a tensor that no header has": Case("mismatch", "HF205", (NORM, "no header"), spoil=lost(NORM, THIRD)),
    "a tensor that nothing has but the index": Case(
        "mismatch", "HF202 HF205", ("model.vision.weight",), spoil=index_says("model.vision.weight", FIRST)
    ),
    "no weight_map": Case("mismatch", "HF001", ("weight_map",), spoil=file(lambda content: b"{}", INDEX)),
    "an index that is cut off": Case(
        "mismatch", "HF001", ("not JSON",), spoil=file(lambda content: content[:-9], INDEX)
    ),
    "a name twice in the index": Case(
        "mismatch",
        "HF001",
        ("duplicate key",),
        spoil=file(
            lambda content: content.replace(b'"weight_map": {', b'"weight_map": {"lm_head.weight": "x",'), INDEX
        ),
    ),
    "a file outside the repo": Case(
        "mismatch", "HF002", ("Nothing was requested",), spoil=index_says(NORM, "../../api/whoami-v2?.safetensors")
    ),
    "several files without an index": Case(
        "mismatch", "HF007", (INDEX, "Only the index is missing"), spoil=file(None, INDEX)
    ),
    # Other files
    "two sets of shards": Case(
        "mismatch",
        "HF006",
        (*UNLISTED, "30 tensors under names that other files hold, too", "mlx-lm"),
        spoil=stale_files,
        unlisted=UNLISTED,
    ),
    "an adapter beside": Case(
        "explained",
        "HF010",
        ("adapter_config.json is in the folder of the model",),
        spoil=beside("adapter_config.json"),
    ),
    "one file beside the shards": Case(
        "mismatch", "HF008", ("lacks 1 tensor of the others",), spoil=one_file_beside(NORM), unlisted=(SINGLE,)
    ),
    "a module of sentence-transformers without its folder": Case(
        "mismatch", "HF009", ("4 modules", "2_Dense is missing"), make=single, spoil=embedding("2_Dense")
    ),
    # Modules of sentence-transformers
    "modules of sentence-transformers": Case("verified", make=single, spoil=embedding()),
    "a module whose config lacks a key": Case(
        "mismatch",
        "HF801",
        ("2_Dense/config.json has no out_features", "Dense"),
        make=single,
        spoil=embedding(dense={"in_features": 12}),
    ),
    "a module with a bias that is not stored": Case(
        "mismatch",
        "HF802",
        ("2_Dense/model.safetensors lacks 1 tensor", "linear.bias"),
        make=single,
        spoil=embedding(dense=DENSE | {"bias": True}),
    ),
    "a module of another class than its weights": Case(
        "mismatch",
        "HF801",
        ("2_Dense/config.json has in_features, which LayerNorm does not take",),
        make=single,
        spoil=embedding(kinds={"2_Dense": "LayerNorm"}),
    ),
    "a module whose weights have another shape": Case(
        "mismatch",
        "HF803",
        ("linear.weight as 4×12", "needs 5×12"),
        make=single,
        spoil=embedding(dense=DENSE | {"out_features": 5}),
    ),
    "a module that reads another width": Case(
        "mismatch",
        "HF804",
        ("2_Dense reads 12 features (in_features)", "1_Pooling writes 24"),
        make=single,
        spoil=embedding(pooling=POOLING | {"pooling_mode_cls_token": True}),
    ),
    "a module that reads what nobody writes": Case(
        "mismatch",
        "HF805",
        ("2_Dense reads sentence_embedding", "they write: token_embeddings"),
        make=single,
        spoil=embedding(kinds={"1_Pooling": "Normalize", "2_Dense": "Dense"}),
    ),
    "a pooling that says another width": Case(
        "explained",
        "HF806",
        ("1_Pooling/config.json has embedding_dimension 16", "are 12 wide"),
        make=single,
        spoil=embedding(pooling=POOLING | {"word_embedding_dimension": 16}),
    ),
    "a module of a class that is not known": Case(
        "unverified",
        "HF807",
        ("the class Thick",),
        make=single,
        spoil=embedding(kinds={"2_Dense": "Thick"}),
    ),
    # Two forms of a model
    "a second form": Case("verified", make=single, spoil=consolidated()),
    "a second form that lacks a tensor": Case(
        "mismatch",
        "HF808",
        ("In Mistral's own form", "layers.1.attention.wq.weight"),
        make=single,
        spoil=consolidated("layers.1.attention.wq.weight"),
    ),
    "a second form of another model": Case(
        "mismatch",
        "HF808 HF809",
        ("config.json and params.json describe", "12×12 by the first, 24×12 by the second"),
        make=single,
        spoil=consolidated(n_kv_heads=4),
    ),
    # Other libraries
    "a model of open_clip": Case("verified", make=clip),
    "a model of open_clip with names of an early version": Case(
        "explained", "HF846", ("text.token_embedding.weight", "open_clip converts them"), make=lambda: clip(early=True)
    ),
    "a policy": Case("verified", make=lambda: policy({})),
    "a policy with statistics": Case(
        "mismatch",
        "HF845",
        ("2 tensors of statistics", "actions are not normalised"),
        make=lambda: policy(STATISTICS),
    ),
    "a policy with statistics that are also elsewhere": Case(
        "explained",
        "HF845",
        ("reads them from policy_preprocessor.json",),
        make=lambda: policy(STATISTICS, "policy_preprocessor.json", "policy_postprocessor.json"),
    ),
    "a policy whose processor lacks its statistics": Case(
        "mismatch",
        "HF847",
        ("policy_preprocessor.json names step_1.safetensors, which is missing",),
        make=lambda: policy({}, **{"policy_preprocessor.json": {"steps": [{"state_file": "step_1.safetensors"}]}}),
    ),
    # Names
    "a tensor is missing": Case("mismatch", "HF201", (NORM, "1 tensor"), spoil=without(NORM)),
    "a tensor is missing, and counted": Case(
        "mismatch", "HF201", (NORM,), spoil=both(without(NORM), claims(total_size=2 * TOTAL))
    ),
    "a tensor too many": Case(
        "mismatch", "HF202", ("model.extra",), spoil=lambda checkpoint: checkpoint.add({"model.extra": ("BF16", (3,))})
    ),
    "biases that nobody announced": Case(
        "mismatch",
        "HF202",
        ("q_proj.bias",),
        spoil=lambda checkpoint: checkpoint.add({f"{LAYER}self_attn.q_proj.bias": ("BF16", (24,))}),
    ),
    "the last layer is missing": Case(
        "mismatch",
        "HF201",
        ("num_hidden_layers is 3, but the checkpoint has 2 layers",),
        spoil=without("model.layers.2."),
    ),
    "a layer within is missing": Case("mismatch", "HF201", ("model.layers.1.",), spoil=without(LAYER)),
    "a layer too many": Case(
        "mismatch", "HF202", ("num_hidden_layers is 3, but the checkpoint has 4 layers",), spoil=another_layer
    ),
    "an expert is missing": Case(
        "mismatch",
        "HF201",
        ("experts.7.w1",),
        make=lambda: sharded("mixtral"),
        spoil=without(*(f"model.layers.{number}.block_sparse_moe.experts.7." for number in range(3))),
    ),
    "untied, and no head": Case(
        "mismatch",
        "HF201",
        (HEAD, "tie_word_embeddings is false"),
        make=tied,
        spoil=says(tie_word_embeddings=False),
    ),
    "tied, and a copy of the head": Case("explained", "HF203", (HEAD,), make=tied, spoil=copy_of_the_head()),
    "tied, and a copy that is not counted": Case(
        "explained", "HF203", (HEAD,), make=tied, spoil=copy_of_the_head(counted=False)
    ),
    "the config ties what is not": Case("explained", "HF203", (HEAD,), spoil=says(tie_word_embeddings=True)),
    "the config ties what is not alike": Case(
        "explained",
        "HF213",
        (HEAD, EMBED, "loads both, untied (both are counted here)", "Set tie_word_embeddings to false"),
        spoil=both(says(tie_word_embeddings=True), file(lambda content: content[:-1] + b"\1", THIRD)),
    ),
    "the config ties what is not alike, and both are counted": Case(
        "explained",
        "HF213",
        spoil=both(
            says(tie_word_embeddings=True),
            file(lambda content: content[:-1] + b"\1", THIRD),
            claims(total_parameters=TOTAL),
        ),
    ),
    "a T5 with a head of its own": Case("verified", make=lambda: text_to_text(tie_word_embeddings=False)),
    "a T5 without the head that it should have": Case(
        "unverified",
        "HF214",
        ("lm_head.weight", "600 elements", "ties the head to the embedding whatever the config says"),
        make=lambda: text_to_text(tie_word_embeddings=False),
        spoil=without("lm_head."),
    ),
    "a tied embedding under two other names": Case(
        "explained",
        "HF212",
        ("encoder.embed_tokens.weight is stored, but not shared.weight", "1 more tensor likewise"),
        make=text_to_text,
        spoil=lambda checkpoint: checkpoint.shards.update(
            {SINGLE: {**_under(checkpoint, "shared", "encoder.embed_tokens"), "lm_head.weight": ("BF16", (50, 12))}}
        ),
    ),
    "a tied embedding under no name": Case("mismatch", "HF201", make=text_to_text, spoil=without("shared.")),
    "a bias under the name of its second module": Case(
        "explained",
        "HF209",
        ("cls.predictions.decoder.bias for cls.predictions.bias",),
        make=predicted_words,
        spoil=lambda checkpoint: checkpoint.rename(
            lambda name: name.replace("predictions.bias", "predictions.decoder.bias")
        ),
    ),
    "a bias under both names": Case(
        "explained",
        "HF204",
        ("cls.predictions.decoder.bias",),
        make=predicted_words,
        spoil=lambda checkpoint: checkpoint.add({"cls.predictions.decoder.bias": ("BF16", (50,))}),
    ),
    "rotary frequencies of the whole model": Case(
        "explained",
        "HF204",
        ("model.rotary_emb.inv_freq", "transformers 5.24 skips 1 tensor"),
        spoil=lambda checkpoint: checkpoint.add({"model.rotary_emb.inv_freq": ("F32", (3,))}),
    ),
    "rotary frequencies": Case("explained", "HF204", ("inv_freq",), spoil=frequencies("F32")),
    "rotary frequencies in bfloat16": Case("explained", "HF204", ("inv_freq",), spoil=frequencies("BF16")),
    "rotary frequencies in one file": Case("explained", "HF204", ("inv_freq",), make=single, spoil=frequencies("F32")),
    "language_model. before every name": Case(
        "mismatch",
        "HF211",
        ("the prefix language_model.",),
        spoil=lambda checkpoint: checkpoint.rename(lambda name: f"language_model.{name}"),
    ),
    "model. before no name": Case(
        "explained",
        "HF209",
        ("embed_tokens.weight", "transformers 4.57 refuses such names beside a head"),
        spoil=lambda checkpoint: checkpoint.rename(lambda name: name.removeprefix("model.")),
    ),
    "model. before no name of a tied model": Case(
        "explained",
        "HF209",
        ("embed_tokens.weight", "transformers 5.24 loads both."),
        make=tied,
        spoil=lambda checkpoint: checkpoint.rename(lambda name: name.removeprefix("model.")),
    ),
    "model. before the names of all layers but one": Case(
        "explained",
        "HF209",
        ("layers.0.", "transformers 4.57 expects the prefix on all names or on none", "random values"),
        spoil=lambda checkpoint: checkpoint.rename(
            lambda name: name.removeprefix("model.") if ".layers.0." in name else name
        ),
    ),
    "model. before the base model's names": Case(
        "explained",
        "HF209",
        (EMBED,),
        make=lambda: sharded(architectures=["LlamaModel"]),
        spoil=lambda checkpoint: checkpoint.rename(lambda name: f"model.{name}"),
    ),
    "prediction layers": Case("explained", "HF208", ("32 tensors",), make=lambda: predicting(True)),
    "prediction layers that are announced": Case(
        "explained", "HF207", ("no tensor of it is stored",), make=lambda: predicting(False)
    ),
    "another head beside": Case(
        "explained",
        "HF210",
        ("score.weight",),
        spoil=lambda checkpoint: checkpoint.add({"score.weight": ("BF16", (2, 12))}),
    ),
    "another head instead": Case(
        "mismatch",
        "HF201 HF210",
        (HEAD, "lacks 1 tensor", "score.weight"),
        spoil=says(architectures=["LlamaForSequenceClassification"]),
    ),
    "saved from DDP": Case(
        "mismatch",
        "HF211",
        ("DDP", "unwrap_model", f"module.{EMBED} for {EMBED}"),
        spoil=lambda checkpoint: checkpoint.rename(lambda name: f"module.{name}"),
    ),
    "an adapter alone": Case(
        "mismatch",
        "HF211",
        ("this is an adapter", "adapter_model.safetensors"),
        make=single,
        spoil=lambda checkpoint: checkpoint.shards.update(
            {SINGLE: {f"base_model.model.{LAYER}self_attn.q_proj.lora_A.weight": ("BF16", (4, 12))}}
        ),
    ),
    "packed experts": Case("explained", "HF212", ("gate_up_proj", "transformers 5"), make=with_packed_experts),
    "only the head of a tied pair": Case(
        "explained",
        "HF212",
        (HEAD, EMBED, "loads either"),
        make=tied,
        spoil=lambda checkpoint: checkpoint.rename(lambda name: HEAD if name == EMBED else name),
    ),
    "half of a prediction layer": Case(
        "mismatch",
        "HF201",
        ("lacks 1 tensor", "multi-token-prediction layer", "eh_proj"),
        make=lambda: predicting(True),
        spoil=without("model.layers.3.eh_proj"),
    ),
    # Shapes, each with the one value that would fit
    "key/value heads": Case(
        "mismatch",
        "HF301",
        ("num_key_value_heads is 4, but 2 would fit",),
        spoil=says(num_key_value_heads=4),
    ),
    "rows of the vocabulary": Case(
        "mismatch", "HF301", ("vocab_size is 56, but the checkpoint has 50 rows",), spoil=says(vocab_size=56)
    ),
    "head width": Case(
        "mismatch",
        "HF301",
        ("head_dim is 8, but 6 would fit",),
        make=lambda: sharded("qwen3"),
        spoil=says(head_dim=8),
    ),
    "heads": Case(
        "mismatch",
        "HF301",
        ("num_attention_heads is 6, but 4 would fit",),
        spoil=says(num_attention_heads=6),
    ),
    "width of the feed-forward network": Case(
        "mismatch", "HF301", ("intermediate_size is 24, but 20 would fit",), spoil=says(intermediate_size=24)
    ),
    "width of the model": Case(
        "mismatch", "HF301", ("hidden_size is 16, but 12 would fit",), spoil=says(hidden_size=16)
    ),
    "one file, and another width": Case(
        "mismatch",
        "HF301",
        ("intermediate_size is 24, but 20 would fit",),
        make=single,
        spoil=says(intermediate_size=24),
    ),
    "transposed": Case(
        "mismatch",
        "HF301",
        ("o_proj",),
        spoil=lambda checkpoint: checkpoint.change(
            lambda name, dtype, shape: (dtype, shape[::-1] if "o_proj" in name else shape)
        ),
    ),
    "flat, as ZeRO-3 partitions": Case(
        "mismatch",
        "HF301",
        (EMBED,),
        spoil=lambda checkpoint: checkpoint.change(lambda name, dtype, shape: (dtype, (prod(shape),))),
    ),
    "empty, as ZeRO-3 leaves them": Case(
        "mismatch",
        "HF301",
        (EMBED, "ZeRO-3"),
        spoil=lambda checkpoint: checkpoint.change(
            lambda name, dtype, shape: (dtype, (0,) if len(shape) > 1 else shape)
        ),
    ),
    # Dtypes
    "all empty, and so is what the index claims": Case(
        "mismatch",
        "HF301",
        ("ZeRO-3",),
        spoil=lambda checkpoint: checkpoint.change(lambda name, dtype, shape: (dtype, (0,))),
    ),
    "norms in float32": Case("explained", "HF302", ("F32", "7 tensors"), spoil=into("F32", "norm.weight")),
    "all in float16": Case("explained", "HF302", ("F16",), make=float16),
    "all in float32": Case("explained", "HF302", ("F32",), spoil=into("F32", "")),
    "one file in float32": Case("explained", "HF302", ("F32",), make=single, spoil=into("F32", "")),
    "all as integers": Case("mismatch", "HF303", ("I16", "30 tensors", "floating-point"), spoil=into("I16", "")),
    "a norm of booleans": Case("mismatch", "HF303", ("BOOL", NORM), spoil=into("BOOL", NORM)),
    "a matrix of complex numbers": Case("mismatch", "HF303", ("C64",), spoil=into("C64", HEAD)),
    "8-bit floats without scales": Case(
        "unverified", "HF304", ("F8_E4M3", "scales"), spoil=into("F8_E4M3", "proj.weight")
    ),
    "8-bit floats, as declared": Case(
        "mismatch",
        "HF103",
        ('dtype is "float8_e4m3fn"', "transformers 5.24.0 refuses"),
        spoil=both(into("F8_E4M3", ""), says(dtype="float8_e4m3fn")),
    ),
    "a placeholder for the tied head": Case(
        "mismatch",
        "HF003",
        ("lm_head.weight has no dtype and no data: a placeholder", f"tied to {EMBED}", "remove the file"),
        make=tied,
        spoil=placeholder,
    ),
    # Claims
    "total_size is stale": Case(
        "mismatch", "HF401", (f"{2 * TOTAL - 10:,}", f"{2 * TOTAL:,}"), spoil=claims(total_size=2 * TOTAL - 10)
    ),
    "total_size is of float32": Case("mismatch", "HF401", (f"{4 * TOTAL:,}",), spoil=claims(total_size=4 * TOTAL)),
    "total_size is 0": Case("explained", "HF402", ("metadata.total_size is 0",), spoil=claims(total_size=0)),
    "no total_size": Case("explained", "HF402", ("metadata.total_size is missing",), spoil=claims(total_size=None)),
    "no metadata": Case(
        "mismatch",
        "HF402",
        ("KeyError",),
        spoil=file(lambda content: json.dumps({"weight_map": json.loads(content)["weight_map"]}).encode(), INDEX),
    ),
    "total_size is the sum of the file sizes": Case(
        "mismatch", "HF401", ("sum of the file sizes, headers included",), spoil=sum_of_file_sizes
    ),
    "total_size is negative": Case("mismatch", "HF001", ("total_size",), spoil=claims(total_size=-1)),
    "total_parameters counts the tied head twice": Case(
        "explained",
        "HF403",
        ("counts the tied head twice",),
        make=tied,
        spoil=lambda checkpoint: checkpoint.metadata.update(total_parameters=checkpoint.data // 2 + 600),
    ),
    "total_parameters counts vectors alone": Case(
        "explained", "HF403", ("ZeRO-3", "The Hub shows that number"), spoil=claims(total_parameters=VECTORS)
    ),
    "total_parameters is off": Case("explained", "HF403", ("5 more",), spoil=claims(total_parameters=TOTAL + 5)),
    "total_parameters of what is stored, and the config says otherwise": Case(
        "mismatch", "HF301", spoil=both(claims(total_parameters=TOTAL), says(vocab_size=51))
    ),
    "total_size of what the config says, and less is stored": Case(
        "mismatch",
        "HF301",
        spoil=both(claims(total_size=2 * TOTAL), lambda checkpoint: checkpoint.add({EMBED: ("BF16", (7, 12))}, FIRST)),
    ),
    "booleans at 1/8 of a byte": Case(
        "explained",
        "HF204",
        make=lambda: Checkpoint(NEOX, {FIRST: stored(NEOX)}),
        spoil=masks,
    ),
    # Quantised
    "GPTQ": Case(
        "mismatch",
        "HF301",
        ("gptq", "stored 3×12"),
        spoil=both(GPTQ, says(quantization_config={"quant_method": "gptq", "bits": 4})),
    ),
    "SINQ": Case(
        "unverified", "HF501", ("sinq",), spoil=both(GPTQ, says(quantization_config={"quant_method": "sinq"}))
    ),
    "GPTQ that the config does not announce": Case("mismatch", "HF504", ("GPTQ",), spoil=GPTQ),
    "FP8 that the config does not announce": Case("mismatch", "HF504", ("FP8",), spoil=FP8),
    "FP8 in one file": Case("mismatch", "HF504", ("FP8",), make=single, spoil=FP8),
    "GPTQ, and truncated": Case(
        "mismatch", "HF004 HF504", (SECOND,), spoil=both(GPTQ, file(lambda content: content[:-2]))
    ),
    "FP8 in blocks": Case("verified", spoil=in_blocks),
    "FP8 in blocks, one file": Case("verified", make=single, spoil=in_blocks),
    "FP8 in blocks, and a scale is lost": Case("mismatch", "HF503", (SCALE,), spoil=both(in_blocks, without(SCALE))),
    "FP8 in blocks, and all scales are lost": Case(
        "mismatch",
        "HF503",
        ("21 modules", "weight_scale_inv"),
        spoil=both(in_blocks, lambda one: one.change(lambda name, *own: None if "_scale_inv" in name else own)),
    ),
    "FP8 in blocks, and a scale of another shape": Case(
        "mismatch", "HF301", (SCALE, "2×1", "3×1"), spoil=both(in_blocks, into_one(SCALE, "F32", (3, 1)))
    ),
    "FP8 in blocks, and a weight of integers": Case(
        "mismatch",
        "HF303",
        ("I8", "F8_E4M3", "model.layers.1.mlp.up_proj.weight"),
        spoil=both(in_blocks, into_one("model.layers.1.mlp.up_proj.weight", "I8", (20, 12))),
    ),
    "FP8 in blocks, and a module is dense": Case(
        "mismatch",
        "HF502",
        ("1 module is not quantised", "model.layers.1.mlp.up_proj.weight", "FP8 in blocks of 16×16"),
        spoil=both(in_blocks, without(SCALE), into_one("model.layers.1.mlp.up_proj.weight", "BF16", (20, 12))),
    ),
    "FP8 in blocks, and the head is packed": Case(
        "mismatch",
        "HF502",
        ("1 module is quantised", HEAD, "excludes it"),
        spoil=both(
            in_blocks,
            into_one(HEAD, "F8_E4M3", (50, 12)),
            lambda checkpoint: checkpoint.add({f"{HEAD}_scale_inv": ("F32", (4, 1))}),
        ),
    ),
    "FP8 in blocks, by a config of other blocks": Case(
        "mismatch",
        "HF301",
        ("weight_scale_inv",),
        spoil=both(in_blocks, says(quantization_config=IN_BLOCKS | {"weight_block_size": [8, 8]})),
    ),
    "FP8 that is announced, and all is dense": Case(
        "mismatch", "HF504", ("quantization_config says fp8",), spoil=says(quantization_config=IN_BLOCKS)
    ),
    "MLX": Case("verified", spoil=in_groups),
    "MLX, and the scales of a module are lost": Case(
        "mismatch", "HF503", ("model.layers.1.mlp.up_proj.scales",), spoil=both(in_groups, without(GROUPS + "scales"))
    ),
    "MLX, and a module is dense": Case(
        "verified",
        spoil=both(
            in_groups,
            without(GROUPS + "scales", GROUPS + "biases"),
            into_one(GROUPS + "weight", "BF16", (20, 12)),
        ),
    ),
    "FP8 with a number of bits that it has not": Case(
        "mismatch",
        "HF505",
        ("config_groups.all.weights.num_bits is 4, but format float-quantized means 8",),
        spoil=in_channels,
    ),
    "a mixture in FP8 with the scales of all experts in one tensor": Case(
        "explained",
        "HF506",
        ("experts.gate_up_proj_scale_inv", "transformers 5.23 saves and loads mixtures"),
        make=lambda: sharded("qwen3_moe"),
        spoil=both(in_blocks, in_stacks),
    ),
    "scales of a cache, and one is lost": Case(
        "mismatch",
        "HF502 HF503",
        ("model.layers.1.self_attn.v_scale", "other layers have theirs"),
        spoil=lambda one: one.add(
            {f"model.layers.{n}.self_attn.{k}_scale": ("F32", ()) for n in range(3) for k in "kv" if (n, k) != (1, "v")}
        ),
    ),
    "scales of a cache": Case(
        "explained",
        "HF502",
        ("self_attn.k_scale", "kv-cache-dtype"),
        spoil=lambda one: one.add(
            {f"model.layers.{n}.self_attn.{k}_scale": ("F32", ()) for n in range(3) for k in "kv"}
        ),
    ),
    # The config
    "no num_key_value_heads, and stored as is the default": Case(
        "verified",
        "HF106",
        ("num_key_value_heads 8",),
        make=lambda: sharded("mistral", num_attention_heads=8, num_key_value_heads=8),
        spoil=lambda checkpoint: checkpoint.config.pop("num_key_value_heads"),
    ),
    "another model's class": Case(
        "mismatch",
        "HF107",
        ("names Qwen2ForCausalLM", "needs 9 tensors more", "q_proj.bias", "Name LlamaForCausalLM in architectures"),
        spoil=says(architectures=["Qwen2ForCausalLM"]),
    ),
    "another model's type": Case(
        "mismatch",
        "HF107 HF201",
        ("names LlamaForCausalLM", "Set model_type to llama"),
        spoil=says(model_type="qwen2"),
    ),
    "a class with the same tensors": Case(
        "explained",
        "HF107",
        ("names LlamaForCausalLM", "the same tensors", "Name MistralForCausalLM"),
        make=lambda: sharded("mistral"),
        spoil=says(architectures=["LlamaForCausalLM"]),
    ),
    "a class of another framework": Case(
        "explained",
        "HF107",
        ("the Flax version of LlamaForCausalLM",),
        spoil=says(architectures=["FlaxLlamaForCausalLM"]),
    ),
    "no model_type": Case(
        "mismatch",
        "HF108",
        ("counted it as llama", 'Add "model_type": "llama"'),
        spoil=lambda checkpoint: checkpoint.config.pop("model_type"),
    ),
    "no model_type, and code of its own": Case(
        "explained",
        "HF108",
        ("configuration_own.OwnConfig",),
        spoil=says(model_type=None, auto_map={"AutoConfig": "configuration_own.OwnConfig"}),
    ),
    "more heads than were probed": Case(
        "unverified",
        "HF120",
        ("dory is recorded from transformers", "num_key_value_heads = 41"),
        make=recorded,
    ),
    "a class that no list names": Case(
        "explained",
        "HF116",
        ('architectures is "LlamaForCausalLM"', "all those of LlamaForCausalLM", "Set architectures to"),
        spoil=says(architectures="LlamaForCausalLM"),
    ),
    "a class that nobody has": Case(
        "unverified",
        "HF109",
        ("FooForCausalLM", "no class of llama", "such as LlamaForCausalLM"),
        spoil=says(architectures=["FooForCausalLM"]),
        reason="UnknownArchitecture",
    ),
    "code of its own, with experts": Case(
        "unverified",
        "HF109",
        ("auto_map takes modeling_own.LlamaForCausalLM", "num_experts"),
        spoil=both(
            without(NORM),
            says(auto_map={"AutoModelForCausalLM": "modeling_own.LlamaForCausalLM"}, num_experts=8),
        ),
        reason="UnknownArchitecture",
    ),
    "code of its own, and all is as it would be without": Case(
        "verified",
        "HF102",
        ("num_experts",),
        spoil=says(auto_map={"AutoModelForCausalLM": "modeling_own.LlamaForCausalLM"}, num_experts=8),
    ),
    "a tie at one of two levels": Case(
        "explained",
        "HF112",
        ("ties the head", "text_config.tie_word_embeddings", "transformers 4.57", "hfcount fix --only HF112"),
        make=lambda: seeing(whole=True, inner=False),
    ),
    "a base of rotary positions that version 4 does not see": Case(
        "verified",
        "HF113",
        ("use 500,000.0 for rope_parameters.rope_theta", "uses 10,000.0", "hfcount fix --only HF113"),
        make=lambda: sharded(rope_parameters={"rope_type": "default", "rope_theta": 500_000.0}),
    ),
    "a scaling of positions that needs a width of heads": Case(
        "mismatch",
        "HF114",
        ("transformers", "refuses rope_scaling of the kind yarn", "without head_dim"),
        make=lambda: sharded(
            "mixtral",
            rope_theta=10_000.0,
            rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
            head_dim=None,
        ),
    ),
    "a rotation that needs a factor": Case(
        "mismatch",
        "HF110",
        ("rope_scaling.factor is absent", "linear", "transformers"),
        spoil=says(rope_scaling={"type": "linear"}),
    ),
    "an activation that nobody knows": Case(
        "mismatch", "HF110", ('hidden_act is "gelu2"', "silu"), spoil=says(hidden_act="gelu2")
    ),
    "a number in quotes": Case(
        "mismatch",
        "HF110",
        ('max_position_embeddings is "2048"', "a whole number", "Write 2048."),
        spoil=says(max_position_embeddings="2048"),
    ),
    "a word in place of true": Case(
        "explained",
        "HF123",
        ('tie_word_embeddings is "no", neither true nor false', "takes it for true"),
        make=lambda: untied(tie_word_embeddings="no"),
    ),
    "a number without end": Case(
        "verified", "HF111", ("time_step_limit[1] is Infinity",), spoil=says(time_step_limit=[0.0, float("inf")])
    ),
    "no hidden_size": Case("mismatch", "HF101", ("hidden_size",), spoil=says(hidden_size=None)),
    "a token without a row": Case("mismatch", "HF105", ("<|im_end|> has the id 50",), spoil=adds({"<|im_end|>": 50})),
    "padding without a row": Case("explained", "HF105", ("<pad> has the id 50",), spoil=adds({"<pad>": 50, "<s>": 1})),
    "tokens with rows": Case("verified", spoil=adds({"<|im_end|>": 49})),
    "a placeholder without a row": Case("mismatch", "HF104", ("image_token_id is 50",), spoil=says(image_token_id=50)),
    "a turn that ends with another token": Case(
        "verified", "HF124", ("turns with <|im_end|> (id 48)",), spoil=spoken("{{ m.content + '<|im_end|>' }}")
    ),
    "a turn that ends with the eos": Case("verified", spoil=spoken("{{ m.content + eos_token }}")),
    "another eos of the tokenizer": Case("verified", "HF125", ("eos_token </s> 2",), spoil=spoken(ends=48)),
    "an eos without a row": Case("explained", "HF104 HF125", ("never produces that token",), spoil=spoken(ends=50)),
    "a template that is cut off": Case("verified", "HF126", ("{{ is not closed",), spoil=spoken("{{ m.content")),
    "an added token with the id of a word": Case(
        "explained",
        "HF127",
        ("<x> has the id 1, but in the vocabulary that id is b", "the id 2 instead"),
        spoil=spoken(vocab=b'{"a": 0, "b": 1}', tokenizer=b"", added_tokens=b'{"<x>": 1}'),
    ),
    "a tokenizer that is cut off": Case(
        "verified", "HF824", ("tokenizer.json is not JSON", "refuses to load"), spoil=spoken(tokenizer=b'{"model": {')
    ),
    "a tokenizer of no class that transformers has": Case(
        "verified", "HF129", ("names OwnTokenizer", "has no such class"), spoil=spoken(kind="OwnTokenizer")
    ),
    "a tokenizer without its words": Case("verified", "HF128", ("names T",), spoil=spoken(tokenizer=b"")),
    "a width that its heads do not divide": Case(
        "mismatch",
        "HF103",
        ("Set hidden_size to", "all stored tensors fit that"),
        make=wide,
        spoil=lambda checkpoint: checkpoint.config.update(hidden_size=checkpoint.config["hidden_size"] + 1),
    ),
    "heads that do not divide a width": Case(
        "mismatch",
        "HF103",
        ("Set num_attention_heads to that of the model that was saved",),
        make=wide,
        spoil=lambda checkpoint: checkpoint.config.update(num_attention_heads=checkpoint.config["hidden_size"] - 1),
    ),
    "heads that cannot be shared": Case(
        "unverified", "HF103", ("num_key_value_heads", "cannot run"), make=lambda: sharded(num_key_value_heads=3)
    ),
    # One file
    "one file, truncated": Case(
        "mismatch", "HF004", (SINGLE,), make=single, spoil=file(lambda content: content[:-1], SINGLE)
    ),
    "one file, and it is a Git LFS pointer": Case(
        "mismatch", "HF003", (SINGLE, "Git LFS"), make=single, spoil=file(lambda content: LFS, SINGLE)
    ),
    "one file, and a tensor is missing": Case("mismatch", "HF201", (NORM,), make=single, spoil=without(NORM)),
    "one file, and a tensor too many": Case(
        "mismatch", "HF202", ("extra",), make=single, spoil=lambda checkpoint: checkpoint.add({"extra": ("BF16", (1,))})
    ),
    # Adapters
    "an adapter of its base": Case("verified", make=adapter),
    "an adapter without tensors": Case("mismatch", "HF720", ("holds no tensor",), make=adapter, spoil=without("base")),
    "an adapter of parts that were not gathered": Case(
        "mismatch",
        "HF720",
        ("12 tensors, all without elements",),
        make=adapter,
        spoil=lambda checkpoint: checkpoint.change(lambda name, dtype, shape: (dtype, (0,))),
    ),
    "an adapter of a layer too many": Case(
        "mismatch",
        "HF721",
        ("The base has no layer 3", "layers.3.mlp.down_proj.lora_A"),
        make=adapter,
        spoil=adding(model__layers__3__mlp__down_proj__lora_A__weight=(2, 20)),
    ),
    "an adapter of modules that are not there": Case(
        "mismatch", "HF721", ("c_attn", "PEFT 0.21 refuses"), make=adapter, spoil=setting(target_modules=["c_attn"])
    ),
    "an adapter with names wrapped twice": Case(
        "mismatch",
        "HF722",
        ("more than once", "has no effect"),
        make=adapter,
        spoil=renaming("base_", "base_model.model.base_"),
    ),
    "an adapter with bare names": Case(
        "mismatch", "HF722", ("lack base_model.model.",), make=adapter, spoil=renaming("base_model.model.", "")
    ),
    "an adapter of another rank": Case(
        "mismatch", "HF723", ("expected 8×12, stored 2×12",), make=adapter, spoil=setting(r=8)
    ),
    "half an adapter": Case(
        "mismatch",
        "HF724",
        ("though other tensors of its module are", "layers.1.self_attn.q_proj.lora_B"),
        make=adapter,
        spoil=without(f"base_model.model.{LAYER}self_attn.q_proj.lora_B"),
    ),
    "an adapter of a wider base": Case(
        "mismatch", "HF725", ("expected 2×24, stored 2×20",), make=adapter, spoil=says(intermediate_size=24)
    ),
    "an adapter with a name too many": Case(
        "explained", "HF726", ("w1",), make=adapter, spoil=setting(target_modules=["q_proj", "down_proj", "w1"])
    ),
    "an adapter with weights of its base": Case(
        "explained",
        "HF727",
        ("1 tensor of the base", "288 elements"),
        make=adapter,
        spoil=adding(model__layers__1__self_attn__q_proj__base_layer__weight=(24, 12)),
    ),
    "an adapter with its name": Case(
        "explained", "HF728", (".default.", "vLLM"), make=adapter, spoil=renaming("lora_A", "lora_A.default")
    ),
    "an adapter with more tokens": Case(
        "explained",
        "HF729",
        ("expected 50×12, stored 52×12",),
        make=adapter,
        spoil=adding(model__embed_tokens__weight=(52, 12), lm_head__weight=(52, 12)),
    ),
    "an adapter with a head": Case(
        "explained",
        "HF730",
        ("sequence classification", "score.weight"),
        make=lambda: adapter(task_type="SEQ_CLS", modules_to_save=["score"]),
        spoil=adding(score__weight=(3, 12)),
    ),
    "an adapter with a setting that PEFT refuses": Case(
        "mismatch",
        "HF733",
        ("lora_alpha in adapter_config.json is null", "a number"),
        make=adapter,
        spoil=setting(lora_alpha=None),
    ),
    "an adapter of mlx-lm": Case("verified", make=mlx_adapter),
    "an adapter of mlx-lm for more layers": Case(
        "mismatch", "HF734", ("layers.1", "mlx-lm 0.32 refuses"), make=mlx_adapter, spoil=setting(num_layers=1)
    ),
    "an adapter of mlx-lm of a wider base": Case(
        "mismatch", "HF735", ("expected 16×2, stored 12×2",), make=mlx_adapter, spoil=says(hidden_size=16)
    ),
    "an adapter of mlx-lm for fewer layers": Case(
        "mismatch",
        "HF736",
        ("layers.0", "leaves those modules unchanged"),
        make=mlx_adapter,
        spoil=setting(num_layers=3),
    ),
    "a LoRA of a diffusion model with the adapter's name": Case(
        "mismatch",
        "HF737",
        (".style.", "diffusers 0.42"),
        make=diffusion_lora,
        spoil=lambda checkpoint: checkpoint.rename(lambda name: name.replace(".weight", ".style.weight")),
        reason="BaseUnknown",
    ),
    "weights of a model in the place of a LoRA": Case(
        "mismatch",
        "HF738",
        ("None of the 2 tensors", "diffusers 0.42"),
        make=diffusion_lora,
        spoil=lambda checkpoint: checkpoint.rename(lambda name: name.replace(".lora_", ".")),
    ),
    "an adapter, truncated": Case(
        "mismatch", "HF004", (ADAPTED,), make=adapter, spoil=file(lambda content: content[:-1], ADAPTED)
    ),
    "an adapter of a method that is not described": Case(
        "unverified", make=adapter, spoil=setting(peft_type="LILY"), reason="MethodUnknown"
    ),
    "an adapter with a pattern that is not simulated": Case(
        "unverified", make=adapter, spoil=setting(target_modules=r".*(q)_proj|(x)\2"), reason="PatternUnread"
    ),
    "an adapter beside its base": Case(
        "explained", "HF010", ("It fits these weights.",), make=single, spoil=lambda checkpoint: beside_it(checkpoint)
    ),
    "an adapter of another rank beside its base": Case(
        "mismatch",
        "HF010 HF723",
        ("It does not fit these weights.",),
        make=single,
        spoil=lambda checkpoint: beside_it(checkpoint, r=4),
    ),
    # Several at once
    "truncated, and a layer is missing": Case(
        "mismatch", "HF004 HF201", spoil=both(without("model.layers.2."), file(lambda content: content[:-1]))
    ),
    "in float32, with frequencies and a copy of the head": Case(
        "explained", "HF203 HF204 HF302", make=tied, spoil=both(into("F32", ""), copy_of_the_head(), frequencies("F32"))
    ),
    "a stale sum, and norms in float32": Case(
        "mismatch", "HF302 HF401", spoil=both(into("F32", "norm.weight"), claims(total_size=2 * TOTAL - 10))
    ),
    # GGUF files
    "a GGUF file": Case("verified", make=lambda: gguf()),
    "a GGUF file in parts": Case("verified", make=lambda: gguf(files=split())),
    "a GGUF file that lacks a tensor": Case(
        "mismatch", "HF710", ("blk.1.ffn_up.weight is missing:",), make=lambda: gguf(lost="blk.1.ffn_up.weight")
    ),
    "a GGUF file that lacks a layer": Case(
        "mismatch", "HF710", ("says 3 layers, but 2 are stored",), make=lambda: gguf(pairs={"qwen3.block_count": 3})
    ),
    "a split GGUF file of which a part is missing": Case(
        "mismatch",
        "HF711",
        ("missing: m-00002-of-00003.gguf",),
        make=lambda: gguf(files={name: raw for name, raw in split().items() if "-00002-" not in name}),
    ),
    "a GGUF projector of another model": Case(
        "mismatch", "HF712", ("80", "64"), make=lambda: gguf(files={"m.gguf": whole(*model()), "p.gguf": projector(80)})
    ),
    "a GGUF projector that says of no encoder": Case(
        "mismatch",
        "HF710",
        ("neither clip.has_vision_encoder nor",),
        make=lambda: gguf(files={"p.gguf": projector(**{"clip.has_vision_encoder": False})}),
    ),
    "a GGUF projector of its model": Case(
        "verified", make=lambda: gguf(files={"m.gguf": whole(*model()), "p.gguf": projector()})
    ),
    "a GGUF file of another base": Case(
        "explained", "HF713", ("3 layers expected, 2 stored",), make=lambda: gguf(config={"num_hidden_layers": 3})
    ),
    "a GGUF file with rotary factors": Case(
        "mismatch", "HF114 HF714", ("rope_freqs.weight",), make=lambda: gguf(more={"rope_freqs.weight": (12,)})
    ),
    "a GGUF file without a tokenizer": Case(
        "explained", "HF717", ("tokenizer.ggml.model", "refuses"), make=lambda: gguf(files={"m.gguf": wordless()})
    ),
    "a GGUF file that goes on": Case("explained", "HF715", make=lambda: gguf(cut=-100)),
    "a GGUF file whose base cannot be built": Case(
        "verified", "HF716", ("hidden_size",), make=lambda: gguf(config={"hidden_size": "wide"})
    ),
    "a GGUF file that is cut": Case("mismatch", "HF004", ("are missing",), make=lambda: gguf(cut=1_000)),
    "a GGUF file that ends within its header": Case("mismatch", "HF004", ("header",), make=lambda: gguf(cut=349_000)),
    "a GGUF file for big-endian machines": Case(
        "mismatch",
        "HF003",
        ("big-endian",),
        make=lambda: gguf(files={"m.gguf": struct.pack(">4sIQQ", b"GGUF", 3, 0, 0)}),
    ),
    "a LoRA in GGUF": Case("verified", make=lambda: gguf_lora()),
    "a LoRA in GGUF of another architecture": Case(
        "mismatch",
        "HF739",
        ("its architecture is llama", "qwen3", "refuses"),
        make=lambda: gguf_lora({"general.architecture": "llama"}),
    ),
    "a LoRA in GGUF with a norm": Case(
        "explained",
        "HF740",
        ("output_norm.weight", "leaves out"),
        make=lambda: gguf_lora({}, {"output_norm.weight": (64,)}),
    ),
    "a LoRA in GGUF for fewer layers": Case(
        "mismatch",
        "HF734",
        ("blk.2.attn_q",),
        make=lambda: gguf_lora({}, {"blk.2.attn_q.weight.lora_a": (8, 64), "blk.2.attn_q.weight.lora_b": (96, 8)}),
    ),
    "a LoRA in GGUF of another width": Case(
        "mismatch",
        "HF735",
        ("expected 8×64, stored 8×72",),
        make=lambda: gguf_lora({}, {"blk.0.attn_q.weight.lora_a": (8, 72)}),
    ),
    # Pipelines of diffusers
    "a pipeline": Case("verified", make=Piped),
    "a part without its folder": Case(
        "mismatch", "HF810", ("no folder scheduler",), make=lambda: Piped(gone=("scheduler/scheduler_config.json",))
    ),
    "a part that is null": Case(
        "mismatch",
        "HF811",
        ("needs text_encoder",),
        make=lambda: Piped(after=pipeline_repos.says("model_index.json", text_encoder=[None, None])),
    ),
    "a part that the pipeline does not take": Case(
        "explained",
        "HF812",
        ("refiner",),
        make=lambda: Piped(after=pipeline_repos.says("model_index.json", refiner=["diffusers", "AutoencoderKL"])),
    ),
    "an inpainting pipeline without a version": Case(
        "mismatch",
        "HF825",
        ("has no _diffusers_version",),
        make=lambda: Piped(
            after=pipeline_repos.says(
                "model_index.json", _class_name="StableDiffusionInpaintPipeline", _diffusers_version=None
            )
        ),
    ),
    "a pipeline of another class": Case(
        "unverified",
        "HF813",
        ("did you mean StableDiffusionPipeline",),
        make=lambda: Piped(after=pipeline_repos.says("model_index.json", _class_name="StableDiffusionPipelin")),
    ),
    "an encoder of another width": Case(
        "mismatch",
        "HF814",
        ("unet.cross_attention_dim is 32, and text_encoder.hidden_size is 48",),
        make=lambda: Piped(pipeline_repos.says("text_encoder/config.json", hidden_size=48)),
    ),
    "a part of another class": Case(
        "explained",
        "HF815",
        ("VQModel",),
        make=lambda: Piped(after=pipeline_repos.says("unet/config.json", _class_name="VQModel")),
    ),
    "all parts in a variant": Case("verified", "HF816", ('variant="fp16"',), make=lambda: Piped(renamed=IN_VARIANT)),
    "a tokenizer without a length": Case(
        "explained",
        "HF823",
        ("tokenizer/tokenizer_config.json has no model_max_length", "fails at its first text"),
        make=lambda: Piped(after=lambda documents: documents.update({"tokenizer/tokenizer_config.json": {"x": 1}})),
    ),
    "one part in a variant": Case(
        "mismatch", "HF817", ("unet has its weights",), make=lambda: Piped(renamed={UNET: IN_VARIANT[UNET]})
    ),
    "a file without a dot beside a variant": Case(
        "mismatch",
        "HF816 HF818",
        ("tokenizer/LICENSE",),
        make=lambda: Piped(renamed=IN_VARIANT, files={"tokenizer/LICENSE": b"x"}),
    ),
    "one part pickled": Case(
        "explained", "HF819", ("unet has only pickled weights",), make=lambda: Piped(gone=(UNET,), files=all_pickled())
    ),
    "null for a part": Case(
        "mismatch",
        "HF820",
        ("has null for safety_checker",),
        make=lambda: Piped(after=pipeline_repos.says("model_index.json", safety_checker=None)),
    ),
    "a part of another library": Case(
        "mismatch",
        "HF821",
        ("vae as AutoencoderKL of transformers", "diffusers has it"),
        make=lambda: Piped(after=pipeline_repos.says("model_index.json", vae=["transformers", "AutoencoderKL"])),
    ),
    "a word that the scheduler does not take": Case(
        "mismatch",
        "HF822",
        ('has "quadratic" for beta_schedule', "takes only linear, scaled_linear, squaredcos_cap_v2"),
        make=lambda: Piped(
            after=pipeline_repos.says("scheduler/scheduler_config.json", beta_schedule="quadratic"),
        ),
    ),
}


def write(name: str, folder: Path) -> Path:
    """The checkpoint of a case, in a folder."""
    case = CASES[name]
    checkpoint = case.make()
    case.spoil(checkpoint)
    return checkpoint.write(folder)

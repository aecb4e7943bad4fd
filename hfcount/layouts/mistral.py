"""Mistral's own layout: params.json, and consolidated files with names of their own.

Source: mistral-inference 1.6 (args.py, transformer.py, moe.py, vision_encoder.py) and vLLM 0.11 (mistral_mapping,
pixtral.py).
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from hfcount.building import build
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.plan import Blueprint
from hfcount.text import printable, shown
from hfcount.tree.nodes import Block, Node, Repeat, Tied

_TEXT = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "hidden_dim": "intermediate_size",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "vocab_size": "vocab_size",
}
_VISION = (
    "hidden_size",
    "num_channels",
    "image_size",
    "patch_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
)
_AROUND = (
    "adapter_bias",
    "add_pre_mm_projector_layer_norm",
    "image_break_token_id",
    "image_end_token_id",
    "image_token_id",
    "max_image_size",
    "mm_projector_id",
    "rope_theta",
    "spatial_merge_size",
)
# Keys that change neither names nor shapes.
_NEUTRAL = {
    "norm_eps",
    "rope_theta",
    "sliding_window",
    "max_seq_len",
    "max_position_embeddings",
    "model_type",
    "use_biases",
    "use_cache",
    "_sliding_window",
    "causal",
    "yarn",
    "llama_4_scaling",
    "max_batch_size",
    "tied_embeddings",
    "moe",
    "vision_encoder",
}
_NAMES = {
    "embed_tokens": "tok_embeddings",
    "lm_head": "output",
    "self_attn": "attention",
    "q_proj": "wq",
    "k_proj": "wk",
    "v_proj": "wv",
    "o_proj": "wo",
    "mlp": "feed_forward",
    "block_sparse_moe": "feed_forward",
    "gate_proj": "w1",
    "down_proj": "w2",
    "up_proj": "w3",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "ffn_norm",
    "vision_tower": "vision_encoder",
}
_LIFTED = ("model", "language_model")
"""Blocks whose children stand one level further up."""


def blueprint(params: Mapping[str, Any], where: str) -> Blueprint:
    """The blueprint of a params.json, under the layout's own names.

    Raises:
        ConfigError: it lacks a key, or contradicts itself.
        UnknownArchitecture: it describes parts that are not described here.
    """
    return built(Config(config(params, where), where))


def built(config: Config) -> Blueprint:
    """The blueprint of what `config` gives, under the layout's own names."""
    return renamed(build(config))


def renamed(model: Blueprint) -> Blueprint:
    """A blueprint of transformers under the names of this layout."""
    return replace(model, tree=Block(_renamed(model.tree), model.tree.component, model.tree.repeats))


def config(params: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config of transformers that describes the same model; raises as `blueprint` does."""
    _known(params, "params", (*_TEXT, *_NEUTRAL), where)
    text: dict[str, Any] = {new: _size(params, key, where) for key, new in _TEXT.items()}
    text |= {"tie_word_embeddings": params.get("tied_embeddings") is True, "sliding_window": None}
    experts = params.get("moe")
    if experts is None:
        text["model_type"] = "mistral"
    else:
        inner = _known(experts, "moe", ("num_experts", "num_experts_per_tok"), where)
        text |= {"num_local_experts": _size(inner, "num_experts", where), "model_type": "mixtral"}
        text["num_experts_per_tok"] = _size(inner, "num_experts_per_tok", where)
    vision = params.get("vision_encoder")
    if vision is None:
        return {**text, "architectures": [f"{str(text['model_type']).title()}ForCausalLM"]}
    return _seeing(text, _known(vision, "vision_encoder", (*_VISION, *_AROUND), where), where)


def _seeing(text: dict[str, Any], vision: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config with Pixtral's tower: Mistral 3 merges patches, and normalises them before."""
    tower: dict[str, Any] = {key: _size(vision, key, where, 3 if key == "num_channels" else None) for key in _VISION}
    tower["model_type"] = "pixtral"
    tied, bias = text.pop("tie_word_embeddings"), vision.get("adapter_bias", True)
    whole: dict[str, Any] = {"text_config": text, "vision_config": tower, "tie_word_embeddings": tied}
    whole["multimodal_projector_bias"] = bool(bias)
    whole["vision_feature_layer"] = -1
    if vision.get("mm_projector_id") == "patch_merge":
        if vision.get("add_pre_mm_projector_layer_norm") is not True:
            raise UnknownArchitecture(f"{where}: merged patches without a norm before are not described.")
        merge = _size(vision, "spatial_merge_size", where, 2)
        names = ["Mistral3ForConditionalGeneration"]
        return {**whole, "model_type": "mistral3", "spatial_merge_size": merge, "architectures": names}
    return {**whole, "model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}


def _known(values: object, name: str, keys: Collection[str], where: str) -> Mapping[str, Any]:
    """An object of these keys alone; another key may bring tensors that are not described."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"{where}: {name} is {shown(values)}, and must be an object.", variant="unknown-kind", key=name
        )
    if unknown := [key for key in values if key not in keys and values[key] is not None]:
        raise UnknownArchitecture(f"{where}: what {printable(unknown[0], 60)} in {name} brings is not described.")
    return values


def _size(values: Mapping[str, Any], key: str, where: str, default: int | None = None) -> int:
    value = values.get(key, default)
    if value is None:
        raise ConfigError(f"{where} has no {key}.", "HF101", key=key, fix="Download it again, or add the key.")
    if type(value) is not int or value <= 0:
        said = f"{where} has {shown(value)} for {key}, and must give a positive number."
        raise ConfigError(said, variant="out-of-range", key=key)
    return value


def _renamed(tree: Block) -> dict[str, Node]:
    """The children of a block under the names of this layout."""
    found: dict[str, Node] = {}
    for name, child in tree.children.items():
        if name == "rotary_emb":  # a buffer that transformers once stored
            continue
        if name in _LIFTED and isinstance(child, Block):
            found |= _renamed(child)
        elif name == "multi_modal_projector" and isinstance(child, Block):
            found |= _projector(child)
        else:
            found[_NAMES.get(name, name)] = _node(child)
    return found


def _projector(block: Block) -> dict[str, Node]:
    parts = dict(block.children)
    adapter = Block({"w_in": parts.pop("linear_1"), "w_out": parts.pop("linear_2")}, block.component)
    found: dict[str, Node] = {"vision_language_adapter": adapter}
    if "norm" in parts:
        found["pre_mm_projector_norm"] = parts["norm"]
    if "patch_merger" in parts:
        found["patch_merger"] = parts["patch_merger"]
    return found


def _node(node: Node) -> Node:
    if isinstance(node, tuple):
        return tuple(map(_node, node))
    if isinstance(node, Repeat):
        return replace(node, body=_node(node.body))
    if isinstance(node, Block):
        return replace(node, children=_renamed(node))
    return replace(node, to=_path(node.to)) if isinstance(node, Tied) else node


def _path(name: str) -> str:
    """The name of a tensor under this layout."""
    return ".".join(_NAMES.get(one, one) for one in name.split(".") if one not in _LIFTED)

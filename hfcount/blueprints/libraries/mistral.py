"""Mistral's own layout: params.json, and consolidated files with names of their own.

Source: mistral-inference 1.6 (args.py, transformer.py, moe.py, vision_encoder.py) and vLLM 0.33 (mistral.py,
mistral_large_3.py, pixtral.py, transformers_utils/configs/mistral.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import voxtral
from hfcount.blueprints.libraries.params import known, size, truth
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tied

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
_DEFAULTS = {"num_channels": 3, "image_size": 1024}  # the size of images changes no shape
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
_LATENT = {
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_nope_head_dim",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "v_head_dim": "v_head_dim",
}
"""Of attention over a latent vector, as DeepSeek-V3 has it."""

_SHARED = {
    "num_experts": "n_routed_experts",
    "num_experts_per_tok": "num_experts_per_tok",
    "num_shared_experts": "n_shared_experts",
    "expert_hidden_dim": "moe_intermediate_size",
    "first_k_dense_replace": "first_k_dense_replace",
    "num_expert_groups": "n_group",
    "num_expert_groups_per_tok": "topk_group",
}
"""Of experts beside shared ones, with the first layers dense."""

_ROUTING = ("expert_model_parallel", "expert_parallel", "renorm_strategy", "routed_scale")
# Keys that change neither names nor shapes.
_NEUTRAL = {
    "activation",
    "dtype",
    "norm_eps",
    "rope_theta",
    "sliding_window",
    "max_seq_len",
    "max_position_embeddings",
    "use_cache",
    "_sliding_window",
    "yarn",
    "llama_4_scaling",
    "max_batch_size",
    "model_max_length",
    "model_parallel",
    "tied_embeddings",
    "quantization",
    "moe",
    "multimodal",
    "vision_encoder",
}
_NAMES = {
    "embed_tokens": "tok_embeddings",
    "lm_head": "output",
    "self_attn": "attention",
    "q_proj": "wq",
    "q_a_proj": "wq_a",
    "q_a_layernorm": "q_a_norm",
    "q_b_proj": "wq_b",
    "kv_a_proj_with_mqa": "wkv_a_with_mqa",
    "kv_a_layernorm": "kv_a_norm",
    "kv_b_proj": "wkv_b",
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
_EAGLE = "eagle_linear"
_LIFTED = ("model", "language_model")
"""Blocks whose children stand one level further up; so do experts beside shared ones."""

LEFT_OUT = frozenset(("rotary_emb", "e_score_correction_bias"))
"""A buffer that transformers once stored, and a bias that DeepSeek-V3 has."""


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
    children = voxtral.renamed(_renamed(model.tree)) if "audio_tower" in model.tree.children else _renamed(model.tree)
    return model.replace(tree=Block(children, model.tree.component, model.tree.repeats))


def otherwise(blueprint: Blueprint, names: Sequence[str]) -> Blueprint | None:
    """The blueprint of an EAGLE draft, which takes the embedding and the head of its target, if these are its names."""
    if _EAGLE not in (name.rpartition(".")[0] for name in names):
        return None
    children = {
        name: node for name, node in blueprint.tree.children.items() if name not in ("tok_embeddings", "output")
    }
    d = blueprint.spec.hidden
    tree = Block({_EAGLE: Linear(2 * d, d), **children}, blueprint.tree.component, blueprint.tree.repeats)
    return blueprint.replace(tree=tree)


def config(params: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config of transformers that describes the same model; raises as `blueprint` does."""
    known(params, "params", (*_TEXT, *_NEUTRAL, *_LATENT), where)
    packed = _packed(params.get("quantization"), where)
    text: dict[str, Any] = {new: size(params, key, where) for key, new in _TEXT.items()}
    text |= {"tie_word_embeddings": truth(params, "tied_embeddings", where), "sliding_window": None}
    text |= _experts(params, where) | packed
    text |= {} if text["model_type"] == "deepseek_v3" else _windows(params, text, where)
    vision, multimodal = params.get("vision_encoder"), params.get("multimodal")
    if multimodal is not None:
        return voxtral.config(text, known(multimodal, "multimodal", ("whisper_model_args",), where), where)
    if vision is None:
        return {**text, "architectures": [_CLASSES[text["model_type"]]]}
    return _seeing(text, known(vision, "vision_encoder", (*_VISION, *_AROUND), where), where)


_CLASSES = {
    "mistral": "MistralForCausalLM",
    "ministral": "MinistralForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
}
_MOST = 100_000  # layers whose windows are listed


def _windows(params: Mapping[str, Any], text: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A window for all layers, or a list for those of a period, which is null where a layer sees everything."""
    given = params.get("sliding_window")
    if not isinstance(given, list):
        return {"sliding_window": size(params, "sliding_window", where, least=0) or None} if given is not None else {}
    layers = int(text["num_hidden_layers"])
    sizes = [size({"sliding_window": window}, "sliding_window", where) for window in given if window is not None]
    if not sizes:
        return {}
    if layers % len(given) or layers > _MOST or len({*sizes}) > 1:
        message = (
            f"{where}: sliding_window lists {len(given):,} windows for {layers:,} layers: their number must divide"
        )
        fix = f"that of the layers, which may be {_MOST:,} at most, and all that are not null must be alike."
        raise ConfigError(f"{message} {fix}", variant="list-length", key="sliding_window")
    if text["model_type"] != "mistral":
        raise UnknownArchitecture(f"{where}: windows of some layers alone are not described beside moe.")
    kinds = ["full_attention" if window is None else "sliding_attention" for window in given] * (layers // len(given))
    return {"model_type": "ministral", "layer_types": kinds, "sliding_window": sizes[0]}


def _packed(values: Any, where: str) -> dict[str, Any]:
    """The quantization_config of packed weights; empty without quantization."""
    if values is None or values == {}:
        return {}
    method = values.get("quant_method") if isinstance(values, Mapping) else None
    if isinstance(method, str) and method.lower().replace("_", "-") == "compressed-tensors":
        return {"quantization_config": {**values, "quant_method": "compressed-tensors"}}
    settings = known(values, "quantization", ("qformat_weight", "qscheme_act", "qscheme_weight"), where)
    return {"quantization_config": {"quant_method": "mistral fp8", **settings}}


def _experts(params: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The type of the text model, and what it has of experts and of attention over a latent vector."""
    experts, latent = params.get("moe"), any(params.get(key) is not None for key in _LATENT)
    if experts is None and not latent:
        return {"model_type": "mistral"}
    inner = {} if experts is None else known(experts, "moe", (*_SHARED, *_ROUTING), where)
    if not latent:
        known(inner, "moe", ("num_experts", "num_experts_per_tok", *_ROUTING), where)
        text = {"num_local_experts": size(inner, "num_experts", where), "model_type": "mixtral"}
        return text | {"num_experts_per_tok": size(inner, "num_experts_per_tok", where)}
    text = {new: size(params, key, where) for key, new in _LATENT.items() if key != "q_lora_rank"}
    text["q_lora_rank"] = None if params.get("q_lora_rank") is None else size(params, "q_lora_rank", where)
    if experts is None:  # every layer is dense
        dense = {"num_experts": 1, "num_shared_experts": 1, "num_experts_per_tok": 1}
        dense |= {"expert_hidden_dim": params["hidden_dim"], "first_k_dense_replace": params["n_layers"]}
        inner = {**dense, "num_expert_groups": 1, "num_expert_groups_per_tok": 1}
    grouped = {"num_expert_groups": 1, "num_expert_groups_per_tok": 1, **inner}
    text |= {
        new: size(grouped, key, where, least=0 if key == "first_k_dense_replace" else 1) for key, new in _SHARED.items()
    }
    return {**text, "model_type": "deepseek_v3", "num_nextn_predict_layers": 0}


def _seeing(text: dict[str, Any], vision: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config with Pixtral's tower: Mistral 3 merges patches, and normalises them before."""
    tower: dict[str, Any] = {key: size(vision, key, where, _DEFAULTS.get(key)) for key in _VISION}
    tower["model_type"] = "pixtral"
    tied, bias = text.pop("tie_word_embeddings"), vision.get("adapter_bias", True)
    above = {"quantization_config": text.pop("quantization_config")} if "quantization_config" in text else {}
    model: dict[str, Any] = {"text_config": text, "vision_config": tower, "tie_word_embeddings": tied, **above}
    model["multimodal_projector_bias"] = bool(bias)
    model["vision_feature_layer"] = -1
    if vision.get("mm_projector_id") == "patch_merge":
        if vision.get("add_pre_mm_projector_layer_norm") is not True:
            raise UnknownArchitecture(f"{where}: merged patches without a norm before are not described.")
        merge = size(vision, "spatial_merge_size", where, 2)
        names = ["Mistral3ForConditionalGeneration"]
        return {**model, "model_type": "mistral3", "spatial_merge_size": merge, "architectures": names}
    return {**model, "model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}


def _renamed(tree: Block) -> dict[str, Node]:
    """The children of a block under the names of this layout."""
    children: dict[str, Node] = {}
    for name, child in tree.children.items():
        if name in LEFT_OUT:
            continue
        if isinstance(child, Block) and (name in _LIFTED or (name == "mlp" and "experts" in child.children)):
            children |= _renamed(child)
        elif name == "multi_modal_projector" and isinstance(child, Block):
            children |= _projector(child)
        else:
            children[_NAMES.get(name, name)] = _node(child)
    return children


def _projector(block: Block) -> dict[str, Node]:
    parts = dict(block.children)
    adapter = Block({"w_in": parts.pop("linear_1"), "w_out": parts.pop("linear_2")}, block.component)
    nodes: dict[str, Node] = {"vision_language_adapter": adapter}
    if "norm" in parts:
        nodes["pre_mm_projector_norm"] = parts["norm"]
    if "patch_merger" in parts:
        nodes["patch_merger"] = parts["patch_merger"]
    return nodes


def _node(node: Node) -> Node:
    if isinstance(node, tuple):
        return tuple(map(_node, node))
    if isinstance(node, Repeat):
        return node.replace(body=_node(node.body))
    if isinstance(node, Block):
        return node.replace(children=_renamed(node))
    return node.replace(to=_path(node.to)) if isinstance(node, Tied) else node


def _path(name: str) -> str:
    """The name of a tensor under this layout."""
    return ".".join(_NAMES.get(segment, segment) for segment in name.split(".") if segment not in _LIFTED)

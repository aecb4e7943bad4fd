"""The config that a GGUF file's metadata amounts to, and the blueprint that its figures are computed with.

Metadata has fewer keys than a config, and several model_types may share an architecture: what it amounts to is taken
only where its blueprint has exactly the tensors of the file.
"""

from collections.abc import Iterator
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.checkpoints.bases import Base
from hfcount.checkpoints.gguf.base import compare
from hfcount.checkpoints.gguf.names import expected
from hfcount.checkpoints.gguf.summary import vocabulary
from hfcount.checkpoints.gguf.table import folded, table
from hfcount.errors import HfcountError
from hfcount.formats.gguf.header import Header
from hfcount.mapper import Config

_KEYS = {
    "embedding_length": ("hidden_size", "n_embd", "d_model", "dim"),
    "feed_forward_length": ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "block_ff_dim"),
    "attention.head_count": ("num_attention_heads", "n_head", "num_heads"),
    "attention.head_count_kv": ("num_key_value_heads", "num_kv_heads"),
    "attention.key_length": ("head_dim", "d_kv"),
    "context_length": ("max_position_embeddings", "n_positions"),
    "attention.sliding_window": ("sliding_window",),
    "expert_count": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
    "expert_used_count": ("num_experts_per_tok", "moe_topk", "top_k_experts"),
    "expert_feed_forward_length": ("moe_intermediate_size", "expert_ffn_hidden_size"),
    "expert_shared_feed_forward_length": ("shared_expert_intermediate_size", "shared_intermediate_size"),
    "expert_shared_count": ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts"),
    "leading_dense_block_count": ("first_k_dense_replace", "num_dense_layers"),
    "attention.q_lora_rank": ("q_lora_rank",),
    "attention.kv_lora_rank": ("kv_lora_rank",),
    "attention.value_length_mla": ("v_head_dim",),
    "nextn_predict_layers": ("num_nextn_predict_layers",),
    "shortconv.l_cache": ("conv_L_cache",),
    "full_attention_interval": ("full_attention_interval",),
    "ssm.conv_kernel": ("conv_kernel", "mamba_d_conv", "linear_conv_kernel_dim"),
    "ssm.state_size": ("state_size", "mamba_d_state", "linear_key_head_dim", "linear_value_head_dim"),
    "ssm.inner_size": ("intermediate_size", "mamba_d_ssm"),
    "ssm.time_step_rank": ("time_step_rank", "mamba_n_heads", "num_heads", "linear_num_value_heads"),
    "ssm.group_count": ("n_groups", "mamba_n_groups", "linear_num_key_heads"),
}
"""Keys of the metadata, and what configs call them; those of state spaces have names that others go before."""

_BIASES = {
    "blk.attn_q.bias": ("attention_bias", "qkv_bias", "use_qkv_bias", "use_bias", "bias"),
    "blk.attn_qkv.bias": ("attention_bias", "qkv_bias", "use_qkv_bias"),
    "blk.ffn_up.bias": ("mlp_bias",),
    "blk.attn_q_norm.weight": ("use_qk_norm", "qk_layernorm", "qk_norm"),
}
_TYPES = 12  # model_types that are tried


def blueprint_of(header: Header, base: Base | None) -> Blueprint | None:
    """A blueprint that has exactly the tensors of a file: the base's, else what its metadata amounts to.

    A base that has more, such as a vision tower that has a file of its own, is taken where nothing else fits.
    """
    fitting = base.blueprint if base and base.blueprint and _fits(header, base.blueprint) else None
    held = sum(tensor.elements for tensor in header.tensors.values())
    if fitting and fitting.total <= held:
        return fitting
    return next((built for built in _built(header) if _fits(header, built)), fitting)


def _fits(header: Header, blueprint: Blueprint) -> bool:
    """Whether a blueprint has what a file holds, and nothing else."""
    if any(remark.kind != "converter-added" for remark in compare(header, blueprint)):
        return False
    known = expected(blueprint, header.text("general.architecture"), len(header.tensors), header.tensors)
    return not known.unmapped


def _built(header: Header) -> Iterator[Blueprint]:
    name = header.text("general.architecture")
    layers = table().layers.get(name)
    types = sorted(layers.model_types if layers else (), key=lambda kind: (kind != name, len(kind), kind))
    values = _values(header, name)
    for model_type in types[:_TYPES]:
        try:
            yield build(Config({"model_type": model_type, **values}, where="metadata"))
        except (HfcountError, ValueError, TypeError):
            continue


def _values(header: Header, name: str) -> dict[str, Any]:
    """The keys and values of a config."""
    result: dict[str, Any] = {
        "dtype": "float16",  # in which llama.cpp caches unless another is asked for
        "tie_word_embeddings": "output.weight" not in header.tensors,
        "sliding_window": None,
        "block_auto_adjust_ff_dim": False,
    }
    for key, names in _KEYS.items():
        value = header.number(f"{name}.{key}")
        if value is None and isinstance(values := header.metadata.get(f"{name}.{key}"), tuple):
            value = values[0] if len({*values}) == 1 and type(values[0]) is int else None
        if value is not None:
            result |= {config_key: value for config_key in names if not result.get(config_key)}
    further = header.number(f"{name}.nextn_predict_layers") or 0
    count = (header.number(f"{name}.block_count") or 0) - further
    result |= dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers", "n_layers"), count)
    held = header.tensors.get("token_embd.weight")
    if tokens := held.shape[0] if held and held.shape else vocabulary(header):
        result["vocab_size"] = tokens
    if (rotated := header.number(f"{name}.rope.dimension_count")) is not None:
        result["qk_rope_head_dim"] = rotated
        if (width := header.number(f"{name}.attention.key_length_mla")) is not None:
            result |= {"qk_nope_head_dim": width - rotated, "num_key_value_heads": result.get("num_attention_heads")}
    stored = {folded(tensor)[0] for tensor in list(header.tensors)[:2_000]}
    for tensor, names in _BIASES.items():
        result |= dict.fromkeys(names, result.get(names[0], False) or tensor in stored)
    return result

"""Modules of Flux by kohya's names, which are the original repo's with `_` for dots, and diffusers' names.

Source: diffusers 0.42.1, loaders/lora_conversion_utils.py (`_convert_kohya_flux_lora_to_diffusers`).
"""

import re
from collections.abc import Mapping

_DOUBLE = re.compile(r"double_blocks_(\d+)_(\w+)")
_SINGLE = re.compile(r"single_blocks_(\d+)_(\w+)")
_OF_DOUBLE: Mapping[str, tuple[str, ...]] = {
    "img_attn_qkv": ("attn.to_q", "attn.to_k", "attn.to_v"),
    "img_attn_proj": ("attn.to_out.0",),
    "img_mlp_0": ("ff.net.0.proj",),
    "img_mlp_2": ("ff.net.2",),
    "img_mod_lin": ("norm1.linear",),
    "txt_attn_qkv": ("attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"),
    "txt_attn_proj": ("attn.to_add_out",),
    "txt_mlp_0": ("ff_context.net.0.proj",),
    "txt_mlp_2": ("ff_context.net.2",),
    "txt_mod_lin": ("norm1_context.linear",),
}
_OF_SINGLE: Mapping[str, tuple[str, ...]] = {
    "linear1": ("attn.to_q", "attn.to_k", "attn.to_v", "proj_mlp"),
    "linear2": ("proj_out",),
    "modulation_lin": ("norm.linear",),
}
MOST = 19, 38
"""How many double and single blocks diffusers converts."""

JOINED_ROWS = 3 * 3_072 + 12_288
"""The rows of the one map that diffusers splits by sizes of its own: those of Flux.1."""


def flux_paths(path: str) -> tuple[str, ...]:
    """The modules in diffusers that one of the original repo holds; empty if diffusers converts none of that name.

    >>> flux_paths("single_blocks_3_linear2"), len(flux_paths("double_blocks_0_img_attn_qkv")), flux_paths("x")
    (('single_transformer_blocks.3.proj_out',), 3, ())
    """
    if (match := _DOUBLE.fullmatch(path)) and int(match[1]) < MOST[0]:
        return tuple(f"transformer_blocks.{int(match[1])}.{end}" for end in _OF_DOUBLE.get(match[2], ()))
    if (match := _SINGLE.fullmatch(path)) and int(match[1]) < MOST[1]:
        return tuple(f"single_transformer_blocks.{int(match[1])}.{end}" for end in _OF_SINGLE.get(match[2], ()))
    return ()

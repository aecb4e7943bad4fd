"""Knows which norms begin with zeros, because their class adds one to the weight.

Source: transformers 5.24, the classes that have `self.weight = nn.Parameter(torch.zeros(...))` in the files that
`CENTRED` names, and the modules that are made of them. Norms of other classes in the same files begin with ones.
Those of layers that predict further tokens are of the same classes in vLLM 0.33.0,
model_executor/models/qwen3_next_mtp.py:107 and qwen3_5_mtp.py:135.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.spec import Spec
from hfcount.spec.tree.leaves import Leaf

_LAYER = ("input_layernorm", "post_attention_layernorm", "norm")
_HEADS = ("q_norm", "k_norm")
_SANDWICH = ("pre_feedforward_layernorm", "post_feedforward_layernorm")
_T5 = ("pre_self_attn_layernorm", "post_self_attn_layernorm", *_SANDWICH, "norm")
_CROSS = ("pre_cross_attn_layernorm", "post_cross_attn_layernorm")
_PREDICTION = ("pre_fc_norm_embedding", "pre_fc_norm_hidden")
_VISION = ("mm_soft_emb_norm",)

CENTRED: Mapping[str, tuple[str, ...]] = {
    "gemma": _LAYER,  # modeling_gemma.py:64
    "gemma2": (*_LAYER, *_SANDWICH),  # modeling_gemma2.py:49
    "gemma3": _VISION,  # modeling_gemma3.py:119
    "gemma3_text": (*_LAYER, *_HEADS, *_SANDWICH),
    "shieldgemma2": _VISION,
    "recurrent_gemma": ("temporal_pre_norm", "channel_pre_norm", "final_norm"),  # modeling_recurrent_gemma.py:45
    "vaultgemma": ("input_layernorm", "pre_feedforward_layernorm", "norm"),  # modeling_vaultgemma.py:46
    "t5gemma": (*_T5, *_CROSS),  # modeling_t5gemma.py:61
    "t5_gemma_module": (*_T5, *_CROSS),
    "t5gemma2": (*_T5, *_HEADS, *_VISION),  # modeling_t5gemma2.py:55
    "t5gemma2_encoder": (*_T5, *_HEADS, *_VISION),
    "t5gemma2_decoder": (*_T5, *_HEADS),
    "t5gemma2_text": (*_T5, *_HEADS),
    "qwen3_next": (*_LAYER, *_HEADS, *_PREDICTION),  # modeling_qwen3_next.py:126
    "qwen3_5": (*_LAYER, *_HEADS, *_PREDICTION),  # modeling_qwen3_5.py:835
    "qwen3_5_text": (*_LAYER, *_HEADS, *_PREDICTION),
    "qwen3_5_moe": (*_LAYER, *_HEADS, *_PREDICTION),  # modeling_qwen3_5_moe.py:936
    "qwen3_5_moe_text": (*_LAYER, *_HEADS, *_PREDICTION),
    "qwen4_exp_text": (  # modeling_qwen4_exp.py:160
        *_HEADS,
        "q_layernorm",
        "k_layernorm",
        "hc_norm",
        "norm_key",
        "norm_query",
        "norm_conv",
    ),
    "step3p5": (*_LAYER, *_HEADS),  # modeling_step3p7.py:495
    "minimax_m3_vl_text": (*_LAYER, *_HEADS),  # modeling_minimax_m3_vl.py:153
    "muse_glimmer_text": ("input_layernorm", "post_attention_layernorm", *_SANDWICH),  # modeling_muse_glimmer.py:109
    "muse_spark_text": (  # modeling_muse_spark.py:107, 127
        "input_layernorm",
        *_SANDWICH,
        "pre_expert_norm",
        "post_expert_norm",
    ),
}
"""The modules whose weights begin with zeros, by the type of the model or part."""

_TOWERS = ("vision", "audio")
_GATED = "linear_attention"  # whose norm, with a gate, begins with ones


class CentredNorms:
    """Which norms of a model begin with zeros, by the part of the model that each lies in.

    Args:
        spec: of the model; None where nothing describes it.
    """

    def __init__(self, spec: Spec[Any] | None) -> None:
        parts = list(_parts(spec)) if spec is not None else []
        self._towers, self._rest = (
            {module for family, tower in parts if tower is is_tower for module in CENTRED.get(family, ())}
            for is_tower in (True, False)
        )

    def has(self, leaf: Leaf) -> bool:
        """Whether the weight of a module begins with zeros."""
        if len(leaf.segments) < 2 or leaf.segments[-1] != "weight" or leaf.component == _GATED:
            return False
        return leaf.segments[-2] in (self._towers if leaf.component in _TOWERS else self._rest)


def _parts(spec: Spec[Any], is_tower: bool = False) -> Iterator[tuple[str, bool]]:
    """The types of a model and of its parts, and whether each is a tower of vision or audio."""
    yield spec.family, is_tower
    for name, part in spec.parts.items():
        yield from _parts(part, is_tower or name in _TOWERS)

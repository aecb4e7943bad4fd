"""Conversions of the reference for models of several families: SPELLINGS and MERGED, see architectures/__init__.py.

Source: transformers 5.23, conversion_mapping.py.
"""

from collections.abc import Mapping


def packed(gate: str = "gate_proj", up: str = "up_proj", down: str = "down_proj") -> dict[str, tuple[str, ...]]:
    """Routed experts in two tensors, the first of gate and up; the names are those of one expert's projections."""
    return {
        "experts.gate_up_proj": (f"experts.*.{gate}.weight", f"experts.*.{up}.weight"),
        "experts.down_proj": (f"experts.*.{down}.weight",),
    }


W_EXPERTS = packed("w1", "w3", "w2")
"""Experts named as in Mixtral."""

BLOCK_SPARSE = {r"\.block_sparse_moe\.": ".mlp."}
"""Mixtral's name of the experts with their router."""

CONVOLUTION = {"conv1d.weight": ("q_conv1d.weight", "k_conv1d.weight", "v_conv1d.weight")}
"""Short convolutions of queries, keys and values in one tensor."""

CLIP = {r"(?<=vision_model\.)vision_model\.": "", r"(?<=[a-z]\.)(?<!model\.)vision_model\.": ""}
"""CLIP's and SigLIP's transformer within its wrapper, whatever a model calls that, before transformers 5."""


HYBRID = {
    r"\.o_proj\.": ".out_proj.",
    r"layers\.(\d+)\.mlp\.fc": r"layers.\1.fc",
    r"encoder\.aifi\.": "encoder.encoder.",
}
"""RT-DETR's names in transformers 5, and those of models built like it."""


def qkv(module: str, end: str) -> tuple[str, ...]:
    """Queries, keys and values, each by itself; `end` is weight or bias."""
    return tuple(f"{module}.{letter}_proj.{end}" for letter in "qkv")


def inside(*senses: str) -> Mapping[str, str]:
    """LLaVA's names before transformers 4.52 and since: all but the head stand under `model`."""
    return {
        r"^language_model\.lm_head\.": "lm_head.",
        r"^language_model\.(?:model\.)?": "model.language_model.",
        rf"^({'|'.join(senses)})\.": r"model.\1.",
        **CLIP,
    }


LLAVA = inside("vision_tower", "multi_modal_projector")
"""LLaVA's names, and those of models built like it."""

GRANITE_EXPERTS = {
    r"block_sparse_moe\.input_linear\.weight$": "block_sparse_moe.experts.gate_up_proj",
    r"block_sparse_moe\.output_linear\.weight$": "block_sparse_moe.experts.down_proj",
    r"block_sparse_moe\.router\.layer\.": "block_sparse_moe.router.",
}
"""Granite's names of packed experts and their router."""


VIT_ATTENTION = {
    **{rf"attention\.{name}\.": f"{name[0]}_proj." for name in ("query", "key", "value")},
    r"attention\.output\.dense\.": "attention.o_proj.",
}
"""ViT's attention before transformers 5, and since."""

VIT = {
    r"encoder\.layer\.": "layers.",
    **VIT_ATTENTION,
    r"intermediate\.dense\.": "mlp.fc1.",
    r"output\.dense\.": "mlp.fc2.",
}
"""ViT's layers, likewise."""

WEIGHT_NORM = {rf"\.weight_{old}$": f".parametrizations.weight.original{new}" for old, new in (("g", 0), ("v", 1))}
"""Length and direction of a normalised weight, before PyTorch 2.0 and since."""

DETR_MASKS = {
    r"^bbox_attention\.(.)_proj\.": r"bbox_attention.\1_linear.",
    r"^mask_head\.conv([12])\.conv\.": r"mask_head.lay\1.",
    r"^mask_head\.conv([12])\.norm\.": r"mask_head.gn\1.",
    **{
        rf"^mask_head\.fpn_stages\.{number}\.{old}\.": f"mask_head.{new}{number + shift}."
        for number in range(3)
        for old, new, shift in (("fpn_adapter", "adapter", 1), (r"refine\.conv", "lay", 3), (r"refine\.norm", "gn", 3))
    },
    r"^mask_head\.output_conv\.": "mask_head.out_lay.",
}
"""DETR's head for masks."""


MISTRAL = {
    r"^tok_embeddings\.": "embed_tokens.",
    r"^output\.": "lm_head.",
    r"\.attention_norm\.": ".input_layernorm.",
    r"\.attention\.": ".self_attn.",
    r"\.ffn_norm\.": ".post_attention_layernorm.",
    r"(?<=\d)\.gate\.": ".mlp.gate.",
    r"(?<=\d)\.(shared_experts|experts)\.": r".mlp.\1.",
    r"\.feed_forward\.": ".mlp.",
    r"\.w1\.": ".gate_proj.",
    r"\.w2\.": ".down_proj.",
    r"\.w3\.": ".up_proj.",
    r"\.w([qkvo])\.": r".\1_proj.",
    r"\.wq_([ab])\.": r".q_\1_proj.",
    r"\.q_a_norm\.": ".q_a_layernorm.",
    r"\.wkv_a_with_mqa\.": ".kv_a_proj_with_mqa.",
    r"\.wkv_b\.": ".kv_b_proj.",
    r"\.kv_a_norm\.": ".kv_a_layernorm.",
}
"""The names of Mistral's own code for those of transformers, of layers with grouped or latent attention."""

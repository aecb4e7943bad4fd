"""Unlimited OCR's second tower: CLIP's layers over what the first one gives, with fused projections."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("unlimited_ocr_vision_encoder",)  # transformers 5.23: modeling_unlimited_ocr.py
SPELLINGS = {r"\btransformer\.": "encoder."}
MERGED = {
    f"self_attn.qkv_proj.{end}": tuple(f"self_attn.{one}_proj.{end}" for one in "qkv") for end in ("weight", "bias")
}


def spec(c: Config) -> Spec:
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=block("attention", qkv_proj=Linear(d, 3 * d, True), out_proj=Linear(d, d, True)),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, one.dense.width),
        )

    # The first tower's output takes the place of patches; releases also hold the projection that it replaces.
    weight = Tensor((d, *s.seen.kernel), presence="obsolete")
    first = Tensor((d,), component="embedding")
    table = block(class_embedding=first, patch_embedding=block(weight=weight), position_embedding=positions(s))
    layers = stack(s.layers, layer)
    return block(embeddings=table, pre_layrnorm=layer_norm(d), transformer=block(layers=layers))

"""Ovis 2: a vision tower whose output picks rows of a table of visual words, before any language model."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("ovis2",)  # transformers 5.23: modeling_ovis2.py
IGNORED = ("visual_indicator_token_ids",)
SPELLINGS = {
    r"^language_model\.lm_head\.": "lm_head.",
    r"^language_model\.(?:model\.)?": "model.language_model.",
    r"^(vision_tower|visual_embeddings_table)\.": r"model.\1.",
}


class Ovis2(Sizes):
    vocab_size: int = size("|V_o|")
    width: int = size("d_w", "hidden_size")


def spec(c: Config) -> Spec[Ovis2]:
    text, towers = (families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "ovis2_vision")})
    # The widths of the head and of the table are the outer config's, those of the layers the inner one's.
    sizes = Ovis2.read(c)
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(sizes)


def blueprint(s: Spec[Ovis2]) -> Block:
    width = s.own.width
    words = Tensor((s.part("vision").sizes(Ovis2Vision).vocab_size, width), component="projector")
    tower = families.tower(s, "vision")
    tree = towers_in_model(s, families.base(s), vision_tower=tower, visual_embeddings_table=block(weight=words))
    if s.head == "base" or s.tied:
        return tree
    return Block({**tree.children, "lm_head": Linear(width, s.own.vocab_size, component="lm_head")})


class Ovis2Vision(Sizes):
    vocab_size: int = size("|V_v|")
    num_visual_indicator_tokens: int = size("n_i", minimum=0)
    hidden_stride: int = size("m")
    qkv_bias: bool = flag(absent=False)


def vision_spec(c: Config) -> Spec[Ovis2Vision]:
    """Ovis 2's vision tower, AIMv2's layers, and a head over visual words (arXiv:2405.20797, arXiv:2411.14402)."""
    sizes = Ovis2Vision.read(c)
    ffn = Dense(width=c.int("intermediate_size"), bias=c.bool("mlp_bias", default=False))
    return keys.tower(c, ffn=ffn, patches=keys.patches(c), positions=keys.squares(c)).having(sizes)


def vision_blueprint(s: Spec[Ovis2Vision]) -> Block:
    d, of = s.hidden, s.own
    words = of.vocab_size - of.num_visual_indicator_tokens

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=square_attention(d, of.qkv_bias, out="out_proj"),
            ffn=swiglu(d, layer.dense.width, layer.dense.bias),
            rms_norm1=rms_norm(d),
            rms_norm2=rms_norm(d),
        )

    table = block(patch_embedding=patch_convolution(s), position_embedding=positions(s), rms_norm=rms_norm(d))
    body = block(embeddings=table, encoder=block(layers=stack(s.layers, layer_block)), rms_norm=rms_norm(d))
    vision_width = of.hidden_stride * of.hidden_stride * d
    return block(
        transformer=body,
        head_linear=Linear(vision_width, words, component="projector"),
        head_norm=layer_norm(words),
    )


PARTS = (families.Family(("ovis2_vision",), vision_spec, vision_blueprint),)

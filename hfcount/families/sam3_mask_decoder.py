"""SAM 3's mask decoder: queries become masks over features at full resolution (arXiv:2511.16719)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.vision import convolution, square_attention
from hfcount.spec import Sizes, Spec, count
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py
MODEL_TYPES = ("sam3_mask_decoder", "sam3_lite_text_mask_decoder")
IGNORED = ("num_attention_heads",)

_EMBEDDER = 3  # layers of the network that embeds masks


class Sam3MaskDecoder(Sizes):
    """What this architecture alone has."""

    num_upsampling_stages: int = count("n_u")


def spec(c: Config) -> Spec[Sam3MaskDecoder]:
    own = Sam3MaskDecoder.read(c)
    return keys.encoding(c, (), {"Decoder": "base"}, hidden=c.int("hidden_size")).having(own)


def blueprint(s: Spec[Sam3MaskDecoder]) -> Block:
    d, stages = s.hidden, Indices.below(s.own.num_upsampling_stages)
    pixels = block(conv_layers=Repeat(stages, convolution(d, d, 3)), norms=Repeat(stages, layer_norm(d)))
    return block(
        pixel_decoder=pixels,
        mask_embedder=block("mlp", layers=Repeat(Indices.below(_EMBEDDER), Linear(d, d, True))),
        instance_projection=convolution(d, d, 1),
        semantic_projection=convolution(d, 1, 1),
        prompt_cross_attn=square_attention(d),
        prompt_cross_attn_norm=layer_norm(d),
    )

"""Wan: a transformer that denoises videos, by a text and for some an image (arXiv:2503.20314), and what is made of it.

ChronoEdit edits images as videos of few frames; SkyReels-V2 goes on without end, and may take the rate of frames; VACE
has further blocks that see what is to be kept or changed, and add to some of the others.
"""

from math import prod

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, embedding
from hfcount.architectures.layers.convolution import led
from hfcount.architectures.layers.diffusion.blocks import seen_image, step_and_text, video_block
from hfcount.architectures.layers.diffusion.layers import feed_forward
from hfcount.architectures.layers.diffusion.transformers import patches, table
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# diffusers 0.42.1: transformer_wan.py, transformer_chronoedit.py, transformer_skyreels_v2.py, transformer_wan_vace.py
MODEL_TYPES = (
    "WanTransformer3DModel",
    "ChronoEditTransformer3DModel",
    "SkyReelsV2Transformer3DModel",
    "WanVACETransformer3DModel",
)


class Vace(Record):
    """VACE's further blocks: their number, and the channels of what they see."""

    blocks: int
    inputs: int


class Wan(Sizes):
    """Its sizes; `image_dim` is the width of what is seen of an image, `vace` what VACE adds, or None.

    `sampled` is whether the rate of frames is taken.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_dim: int = size("d_t")
    freq_dim: int = size("d_s")
    ffn_dim: int = size("d_ff")
    num_layers: int = count("L")
    cross_attn_norm: bool = flag()
    image_dim: int | None = derived(lambda c: diffusion.nullable(c, "image_dim", "d_i"))
    added_kv_proj_dim: int | None = derived(lambda c: diffusion.nullable(c, "added_kv_proj_dim", "d_a"))
    pos_embed_seq_len: int | None = derived(lambda c: diffusion.nullable(c, "pos_embed_seq_len", "n_p"))
    patch_size: tuple[int, ...] = derived(lambda c: diffusion.patch_sides(c, "patch_size", 3))
    out_channels: int
    vace: Vace | None
    sampled: bool


def spec(c: Config) -> Spec[Wan]:
    out = diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    vace = _vace(c) if c.family == "WanVACETransformer3DModel" else None
    sampled = c.family == "SkyReelsV2Transformer3DModel" and c.bool("inject_sample_info")
    sizes = Wan.read(c, out_channels=out, vace=vace, sampled=sampled)
    diffusion.rotary_pairs(c, sizes.attention_head_dim)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _vace(c: Config) -> Vace:
    places, count = [int(place) for place in c.ints("vace_layers", least=1)], c.int("num_layers", maximum=MAX_LAYERS)
    if max(places) >= count:
        text = f"vace_layers has {max(places):,}, and the last of num_layers is {int(count) - 1:,}."
        raise c.error("out-of-range", text, "vace_layers", "Correct one of them.", observed=max(places))
    if 0 not in places:
        raise c.error("out-of-range", "vace_layers lacks 0, the first layer.", "vace_layers", "Add it.")
    return Vace(blocks=keys.dim("L_v", len(places)), inputs=keys.dim("C_v", c.int("vace_in_channels")))


def blueprint(s: Spec[Wan]) -> Block:
    d, of = s.hidden, s.own
    layer, vace = video_block(d, of.ffn_dim, of.cross_attn_norm, of.added_kv_proj_dim), of.vace
    image = None if of.image_dim is None else seen_image(of.image_dim, d, of.pos_embed_seq_len)
    return block(
        patch_embedding=patches(of.in_channels, d, *of.patch_size),
        vace_patch_embedding=None if vace is None else patches(vace.inputs, d, *of.patch_size),
        condition_embedder=step_and_text(of.freq_dim, of.text_dim, d, image),
        blocks=Repeat(Indices.below(of.num_layers), layer),
        vace_blocks=None if vace is None else _further(vace, layer, d),
        proj_out=Linear(d, of.out_channels * prod(of.patch_size), True),
        scale_shift_table=table(1, 2, d),
        fps_embedding=embedding(2, d) if of.sampled else None,
        fps_projection=feed_forward(d, d, 6 * d) if of.sampled else None,
    )


def _further(vace: Vace, layer: Block, d: int) -> tuple[Node, ...]:
    """VACE's blocks, each with a projection to the layer that it adds to, the first with one of what it sees, too."""
    later = Block({**layer.children, "proj_out": Linear(d, d, True)})
    return led(vace.blocks, Block({**later.children, "proj_in": Linear(d, d, True)}), later)

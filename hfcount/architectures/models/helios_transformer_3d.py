"""Helios: a transformer that denoises long videos, and sees what it made before, the earlier the coarser."""

from math import prod

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import step_and_text, video_block
from hfcount.architectures.layers.diffusion.transformers import patches, table
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("HeliosTransformer3DModel",)  # diffusers 0.42.1: transformer_helios.py


class Helios(Sizes):
    """Sizes of Helios; `scales` are how many numbers weight what was made before, None if it is not weighted."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_dim: int = size("d_t")
    freq_dim: int = size("d_s")
    ffn_dim: int = size("d_ff")
    num_layers: int = count("L")
    cross_attn_norm: bool = flag()
    has_multi_term_memory_patch: bool = flag()
    added_kv_proj_dim: int | None = derived(lambda c: diffusion.nullable(c, "added_kv_proj_dim", "d_a"))
    patch_size: tuple[int, ...] = derived(lambda c: diffusion.patch_sides(c, "patch_size", 3))
    out_channels: int
    scales: int | None


def spec(c: Config) -> Spec[Helios]:
    axes = len(c.ints("rope_dim"))
    if axes != 3:
        text = f"rope_dim has {axes:,} entries, and needs 3: time, height and width."
        raise c.error("list-length", text, "rope_dim", "Correct it.", expected=3, observed=axes)
    scales = None
    if c.bool("is_amplify_history") and c.int("num_layers", minimum=0, maximum=MAX_LAYERS):
        scales = (
            1 if c.choice("history_scale_mode", ("per_head", "scalar")) == "scalar" else c.int("num_attention_heads")
        )
    out = diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    sizes = Helios.read(c, out_channels=out, scales=scales)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Helios]) -> Block:
    d, of, sides = s.hidden, s.own, s.own.patch_size
    more: dict[str, Node] = {} if of.scales is None else {"history_key_scale": Tensor((of.scales,))}
    layer = video_block(d, of.ffn_dim, of.cross_attn_norm, of.added_kv_proj_dim, **more)
    image, remembered = patches(of.in_channels, d, *sides), dict[str, Node]()
    if of.has_multi_term_memory_patch:
        remembered = {
            "patch_short": image,
            "patch_mid": patches(of.in_channels, d, *(2 * side for side in sides)),
            "patch_long": patches(of.in_channels, d, *(4 * side for side in sides)),
        }
    return block(
        patch_embedding=image,
        **remembered,
        condition_embedder=step_and_text(of.freq_dim, of.text_dim, d),
        blocks=Repeat(Indices.below(of.num_layers), layer),
        norm_out=block("norm", scale_shift_table=table(1, 2, d)),
        proj_out=Linear(d, of.out_channels * prod(sides), True),
    )

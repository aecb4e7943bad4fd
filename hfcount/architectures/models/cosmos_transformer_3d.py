"""Cosmos: a transformer that denoises videos by a text, and for some by an image (arXiv:2501.03575)."""

from math import prod

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("CosmosTransformer3DModel",)  # diffusers 0.42.1: transformer_cosmos.py


class Cosmos(Sizes):
    """Sizes specific to Cosmos; `seen` is the width of an image that it sees, `places` rows of its tables of positions.

    `projected` is the width of a text before and after it is projected; all three are None where there is none.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    text_embed_dim: int = size("d_t")
    adaln_lora_dim: int = size("r")
    num_layers: int = count("L")
    concat_padding_mask: bool = flag()
    patch_size: tuple[int, ...] = derived(lambda c: _sides(c))
    width: int
    places: tuple[int, ...] | None
    projected: tuple[int, int] | None
    seen: tuple[int, int] | None


def spec(c: Config) -> Spec[Cosmos]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    sizes = Cosmos.read(
        c,
        width=keys.dim("d_ff", c.times("mlp_ratio", d)),
        places=_places(c) if diffusion.text_of(c, "extra_pos_embed_type") == "learnable" else None,
        projected=_projected(c),
        seen=_seen(c),
    )
    _check_axes(c, sizes.attention_head_dim)
    if len(c.entries("rope_scale")) < 3:
        raise c.unequal("rope_scale", len(c.entries("rope_scale")), "the number of axes", 3)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _sides(c: Config) -> tuple[int, ...]:
    sides = c.ints("patch_size", least=3, minimum=1)[:3]
    return tuple(keys.dim(f"p{place}", side) for place, side in enumerate(sides, 1))


def _places(c: Config) -> tuple[int, ...]:
    sizes = c.ints("max_size", least=3, minimum=1)[:3]
    rows = (size // side for size, side in zip(sizes, _sides(c), strict=True))
    return tuple(keys.dim(f"n{place}", count) for place, count in enumerate(rows, 1))


def _projected(c: Config) -> tuple[int, int] | None:
    if not c.bool("use_crossattn_projection"):
        return None
    inputs, outputs = c.int("crossattn_proj_in_channels"), c.int("encoder_hidden_states_channels")
    return keys.dim("d_x", inputs), keys.dim("d_y", outputs)


def _seen(c: Config) -> tuple[int, int] | None:
    inputs = diffusion.nullable(c, "img_context_dim_in", "d_i")
    return (inputs, keys.dim("d_j", c.int("img_context_dim_out"))) if inputs else None


def _check_axes(c: Config, head: int) -> None:
    """Refuses heads of which an axis of positions has two elements: its frequencies are divided by none."""
    sides = head // 6 * 2
    if 2 in (sides, head - 2 * sides):
        text = f"attention_head_dim is {int(head):,}, but must not leave two elements to an axis of positions."
        raise c.error("out-of-range", text, "attention_head_dim", "Correct it.", observed=int(head))


def blueprint(s: Spec[Cosmos]) -> Block:
    d, of, places = s.hidden, s.own, prod(s.own.patch_size)
    channels = of.in_channels + 1 if of.concat_padding_mask else of.in_channels
    step = block(linear_1=Linear(d, d), linear_2=Linear(d, 3 * d))
    rows, projected, image = of.places, of.projected, of.seen
    tables = None
    if rows is not None:
        names = ("pos_emb_t", "pos_emb_h", "pos_emb_w")
        tables = Block({name: Tensor((row, d)) for name, row in zip(names, rows, strict=True)}, "embedding")
    return block(
        patch_embed=block("embedding", proj=Linear(channels * places, d)),
        learnable_pos_embed=tables,
        time_embed=block("embedding", t_embedder=step, norm=rms_norm(d)),
        transformer_blocks=Repeat(Indices.below(of.num_layers), _layer(of, d)),
        norm_out=_modulated(of, d, 2 * d),
        proj_out=Linear(d, places * of.out_channels),
        crossattn_proj=None if projected is None else Block({"0": Linear(*projected, True)}, "embedding"),
        img_context_proj=None if image is None else Block({"0": Linear(*image, True)}, "embedding"),
    )


def _layer(of: Cosmos, d: int) -> Block:
    norm, out, projection = rms_norm(of.attention_head_dim), Block({"0": Linear(d, d)}), Linear(d, d)
    image: dict[str, Node | None] = {
        "q_img": projection,
        "k_img": projection,
        "v_img": projection,
        "q_img_norm": norm,
        "k_img_norm": norm,
    }
    more: dict[str, Node | None] = {"to_out": out, **(image if of.seen else {})}
    modulated = _modulated(of, d, 3 * d)
    return block(
        norm1=modulated,
        attn1=normed_attention(d, d, None, False, norm, to_out=out),
        norm2=modulated,
        attn2=normed_attention(d, d, of.text_embed_dim, False, norm, **more),
        norm3=modulated,
        ff=feed_forward(d, of.width, bias=False),
    )


def _modulated(of: Cosmos, d: int, outputs: int) -> Block:
    return block("norm", linear_1=Linear(d, of.adaln_lora_dim), linear_2=Linear(of.adaln_lora_dim, outputs))

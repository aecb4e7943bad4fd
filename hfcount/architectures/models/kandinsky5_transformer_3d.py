"""Kandinsky 5: a transformer that denoises videos and images, and refines a text before (arXiv:2511.14993)."""

from math import prod

from hfcount.architectures.layers import diffusion, layer_norm, rms_norm
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("Kandinsky5Transformer3DModel",)  # diffusers 0.42.1: transformer_kandinsky.py


class Kandinsky5(Sizes):
    """Sizes specific to Kandinsky 5; `visual_cond` is whether it sees an image beside what it denoises."""

    model_dim: int = size("d")
    time_dim: int = size("d_s")
    ff_dim: int = size("d_ff")
    in_visual_dim: int = size("C")
    out_visual_dim: int = size("C_o")
    in_text_dim: int = size("d_t")
    in_text_dim2: int = size("d_p")
    num_text_blocks: int = count("L_t")
    num_visual_blocks: int = count("L_v")
    visual_cond: bool = flag()
    patch_size: tuple[int, ...] = derived(lambda c: diffusion.patch_sides(c, "patch_size", 3))
    head_dim: int


def spec(c: Config) -> Spec[Kandinsky5]:
    sizes = Kandinsky5.read(c, head_dim=sum(c.ints("axes_dims", least=1, minimum=1)))
    d, blocks = sizes.model_dim, sizes.num_text_blocks + sizes.num_visual_blocks
    if d % 2 or (blocks and d % sizes.head_dim):
        text = f"model_dim is {int(d):,}, but must be even and a multiple of the sum of axes_dims."
        raise c.error("not-divisible", text, "model_dim", "Correct one of them.", observed=int(d))
    return diffusion.diffusing(c, sizes, d)


def blueprint(s: Spec[Kandinsky5]) -> Block:
    d, of, places = s.hidden, s.own, prod(s.own.patch_size)
    vision_width = 2 * of.in_visual_dim + 1 if of.visual_cond else of.in_visual_dim
    network = block("mlp", in_layer=Linear(d, of.ff_dim), out_layer=Linear(of.ff_dim, d))
    attention = _attention(d, of.head_dim)
    text = block(text_modulation=_modulation(of, 6), self_attention=attention, feed_forward=network)
    visual = block(
        visual_modulation=_modulation(of, 9),
        self_attention=attention,
        cross_attention=attention,
        feed_forward=network,
    )
    step = block("embedding", in_layer=Linear(d, of.time_dim, True), out_layer=Linear(of.time_dim, of.time_dim, True))
    return block(
        time_embeddings=step,
        text_embeddings=_text(of.in_text_dim, d),
        pooled_text_embeddings=_text(of.in_text_dim2, of.time_dim),
        visual_embeddings=block("embedding", in_layer=Linear(places * vision_width, d, True)),
        text_transformer_blocks=Repeat(Indices.below(of.num_text_blocks), text),
        visual_transformer_blocks=Repeat(Indices.below(of.num_visual_blocks), visual),
        out_layer=block(modulation=_modulation(of, 2), out_layer=Linear(d, places * of.out_visual_dim, True)),
    )


def _modulation(of: Kandinsky5, count: int) -> Block:
    return block("norm", out_layer=Linear(of.time_dim, count * of.model_dim, True))


def _text(inputs: int, d: int) -> Block:
    return block("embedding", in_layer=Linear(inputs, d, True), norm=layer_norm(d))


def _attention(d: int, head: int) -> Block:
    projection, norm = Linear(d, d, True), rms_norm(head)
    return block(
        "attention",
        to_query=projection,
        to_key=projection,
        to_value=projection,
        query_norm=norm,
        key_norm=norm,
        out_layer=projection,
    )

"""PRX: a transformer that denoises images and attends to a text, of which nothing is made (Photoroom, 2025)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("PRXTransformer2DModel",)  # diffusers 0.42.1: transformer_prx.py

_AXES = (32, 32)


class PRX(Sizes):
    """Sizes specific to PRX; `bottleneck_size` is the width between two layers that embed a patch, or None."""

    in_channels: int = size("C")
    patch_size: int = size("p")
    context_in_dim: int = size("d_t")
    hidden_size: int = size("d")
    num_heads: int = size("h", minimum=1)
    depth: int = count("L")
    resolution_embeds: bool = flag()
    bottleneck_size: int | None = derived(lambda c: diffusion.nullable(c, "bottleneck_size", "d_b"))
    width: int


def spec(c: Config) -> Spec[PRX]:
    sizes = PRX.read(c, width=keys.dim("d_ff", c.times("mlp_ratio", c.int("hidden_size"))))
    head = keys.divides(c, "num_heads", sizes.num_heads, "hidden_size", sizes.hidden_size)
    axes = sum(_AXES if c.is_null("axes_dim") else c.ints("axes_dim"))
    if axes != head:
        text = f"axes_dim come to {int(axes):,}, and hidden_size / num_heads is {int(head):,}."
        raise c.error("contradiction", text, "axes_dim", "Correct one of them.", expected=int(head), observed=int(axes))
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[PRX]) -> Block:
    d, of, narrow = s.hidden, s.own, s.own.bottleneck_size
    patch, norm = of.in_channels * of.patch_size * of.patch_size, rms_norm(s.hidden // s.own.num_heads)
    step = block("embedding", in_layer=Linear(STEP_CHANNELS, d, True), out_layer=Linear(d, d, True))
    image: Node = Linear(patch, d, True, "embedding")
    if narrow is not None:
        image = Block({"0": Linear(patch, narrow, True), "1": Linear(narrow, d, True)}, "embedding")
    attention = block(
        "attention",
        img_qkv_proj=Linear(d, 3 * d),
        norm_q=norm,
        norm_k=norm,
        txt_kv_proj=Linear(d, 2 * d),
        norm_added_k=norm,
        to_out=Block({"0": Linear(d, d)}),
    )
    layer = block(
        attention=attention,
        gate_proj=Linear(d, of.width, component="mlp"),
        up_proj=Linear(d, of.width, component="mlp"),
        down_proj=Linear(of.width, d, component="mlp"),
        modulation=block("norm", lin=Linear(d, 6 * d, True)),
    )
    modulation = Block({"1": Linear(d, 2 * d, True)}, "norm")
    return block(
        img_in=image,
        time_in=step,
        txt_in=Linear(of.context_in_dim, d, True, "embedding"),
        resolution_embedder=block(mlp=step) if of.resolution_embeds else None,
        blocks=Repeat(Indices.below(of.depth), layer),
        final_layer=block(linear=Linear(d, patch, True), adaLN_modulation=modulation),
    )

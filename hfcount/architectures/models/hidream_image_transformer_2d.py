"""HiDream: a transformer with experts that denoises images, in two streams and then in one (arXiv:2505.22705)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, numbered_swiglu, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("HiDreamImageTransformer2DModel",)  # diffusers 0.42.1: transformer_hidream_image.py

_MULTIPLE = 256
"""What the width of a network is a multiple of."""


class HiDream(Sizes):
    """Sizes specific to HiDream; `captions` are the widths of what its two text encoders give."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_emb_dim: int = size("d_p")
    patch_size: int = size("p", minimum=1)
    num_layers: int = count("L_d")
    num_single_layers: int = count("L_s")
    num_routed_experts: int = size("n", minimum=0)
    num_activated_experts: int = size("k", minimum=0)
    captions: tuple[int, int]
    out_channels: int


def spec(c: Config) -> Spec[HiDream]:
    captions = c.ints("caption_channels", least=2, minimum=1)
    c.ints("max_resolution", least=2)  # it bears on no shape, and the library looks both sides up
    sizes = HiDream.read(
        c,
        captions=(keys.dim("d_t1", captions[0]), keys.dim("d_t2", captions[1])),
        out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"),
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[HiDream]) -> Block:
    d, of, places = s.hidden, s.own, s.own.patch_size * s.own.patch_size
    both = block(
        adaLN_modulation=_modulation(d, 12), attn1=_attention(d, True), ff_i=_network(of, d), ff_t=_swiglu(d, 4 * d)
    )
    single = block(adaLN_modulation=_modulation(d, 6), attn1=_attention(d, False), ff_i=_network(of, d))
    layers, (first, second) = of.num_layers + of.num_single_layers, of.captions
    captions = (
        Repeat(Indices.below(layers), block(linear=Linear(second, d))),
        Repeat(Indices.span(layers, layers + 1), block(linear=Linear(first, d))),
    )
    return block(
        t_embedder=block(timestep_embedder=time_embedding(STEP_CHANNELS, d)),
        p_embedder=block(pooled_embedder=time_embedding(of.text_emb_dim, d)),
        x_embedder=block("embedding", proj=Linear(places * of.in_channels, d, True)),
        double_stream_blocks=Repeat(Indices.below(of.num_layers), block(block=both)),
        single_stream_blocks=Repeat(Indices.below(of.num_single_layers), block(block=single)),
        final_layer=block(linear=Linear(d, places * of.out_channels, True), adaLN_modulation=_modulation(d, 2)),
        caption_projection=captions,
    )


def _modulation(d: int, count: int) -> Block:
    return Block({"1": Linear(d, count * d, True)}, "norm")


def _attention(d: int, both: bool) -> Block:
    """Attention of one stream, or of both, whose further tensors end in `_t`."""
    projection, norm = Linear(d, d, True), rms_norm(d)
    parts: dict[str, Node] = dict.fromkeys(("to_q", "to_k", "to_v", "to_out"), projection)
    parts |= {"q_rms_norm": norm, "k_rms_norm": norm}
    further = {f"{name}_t": child for name, child in parts.items()} if both else {}
    return Block({**parts, **further}, "attention")


def _network(of: HiDream, d: int) -> Block:
    """Routed experts beside a shared one half as wide, or one network where there are none."""
    if not of.num_routed_experts:
        return _swiglu(d, 4 * d)
    routed = Repeat(Indices.below(of.num_routed_experts), _swiglu(d, 4 * d, "experts"), of.num_activated_experts)
    gate = block("router", weight=Tensor((of.num_routed_experts, d)))
    return block(shared_experts=_swiglu(d, 2 * d), experts=routed, gate=gate)


def _swiglu(d: int, width: int, component: Component = "mlp") -> Block:
    return numbered_swiglu(d, round_up(2 * width // 3, _MULTIPLE), component)

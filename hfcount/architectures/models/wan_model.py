"""Wan as it was released: a transformer that denoises videos, by a text (arXiv:2503.20314)."""

from math import prod

from hfcount.architectures.layers import altered, diffusion, layer_norm, rms_norm
from hfcount.architectures.layers.diffusion.transformers import patches, table
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# wan/modules/model.py of Wan-Video/Wan2.1 and of Wan-Video/Wan2.2, and vace_model.py of the first (arXiv:2503.07598)
MODEL_TYPES = ("WanModel", "VaceWanModel")
IGNORED = ("text_len", "window_size")

_IMAGE, _PLACES = 1280, 2 * 257  # the width of CLIP's tower, and its patches in the first and the last frame
_KINDS = ("t2v", "ti2v", "flf2v")


def _sides(c: Config) -> tuple[int, ...]:
    sides = c.ints("patch_size", default=(1, 2, 2), minimum=1)
    if len(sides) != 3:
        text = f"patch_size has {len(sides):,} entries, and needs 3, a side each of a patch."
        raise c.error("list-length", text, "patch_size", "Correct it.", expected=3, observed=len(sides))
    return tuple(Dim.named(f"p{place}", side) for place, side in enumerate(sides, 1))


class Vace(Sizes):
    """What VACE adds: how many layers read what is to be kept, which of them is the first, and what they read."""

    layers: int
    first: int
    in_dim: int


class WanModel(Sizes):
    """Sizes specific to this architecture; `framed` is whether it sees a first and a last frame."""

    in_dim: int = size("C", absent=16)
    out_dim: int = size("C_o", absent=16)
    text_dim: int = size("d_t", absent=4096)
    freq_dim: int = size("d_s", absent=256)
    ffn_dim: int = size("d_ff", absent=8192)
    num_layers: int = count("L", absent=32)
    qk_norm: bool = flag(absent=True)
    cross_attn_norm: bool = flag(absent=True)
    patch_size: tuple[int, ...] = derived(_sides)
    framed: bool
    vace: Vace | None


def spec(c: Config) -> Spec[WanModel]:
    kind = c.str("model_type", default="t2v")
    if kind == "i2v":
        raise UnknownArchitecture(
            f"{c.where}: model_type i2v is of Wan 2.1, which has what embeds an image, and of Wan 2.2, which has not;"
            " nothing in the config tells which. WanTransformer3DModel, as diffusers saves it, says so by image_dim."
        )
    vace = _vace(c) if c.family == "VaceWanModel" else None
    c.choice("model_type", ("vace", *_KINDS[:1], c.family) if vace else (*_KINDS, "WanModel"), "t2v")
    d, heads = c.int("dim", default=2048), c.int("num_heads", default=16)
    if d % heads or (d // heads) % 2:
        text = f"dim {d:,} is not an even multiple of num_heads {heads:,}."
        raise c.error("not-divisible", text, "num_heads", "Correct one of them.")
    return diffusion.diffusing(c, WanModel.read(c, framed=kind == "flf2v", vace=vace), d)


def _vace(c: Config) -> Vace:
    """The layers of VACE: every second one, unless the config lists them."""
    depth = c.int("num_layers", default=32, maximum=MAX_LAYERS)
    of = c.int("vace_in_dim", default=None) or c.int("in_dim", default=16)
    if not c.given("vace_layers"):
        every = Indices.span(0, depth, 2)
        return Vace(layers=every.count, first=0, in_dim=of)
    places = c.ints("vace_layers", minimum=0)
    if 0 not in places:
        text = f"vace_layers has {len(places):,} entries, and no 0, which the class needs."
        raise c.error("out-of-range", text, "vace_layers", "List the first layer, 0.")
    number = Dim.named("N_v", len(places), f"entries of {c.path('vace_layers')}")
    return Vace(layers=number, first=places.index(0), in_dim=of)


def blueprint(s: Spec[WanModel]) -> Block:
    d, of = s.hidden, s.own

    def two(inputs: int) -> Block:
        return Block({"0": Linear(inputs, d, True), "2": Linear(d, d, True)}, "embedding")

    layer = block(
        modulation=table(1, 6, d),
        self_attn=_attention(d, of.qk_norm),
        norm3=layer_norm(d) if of.cross_attn_norm else None,
        cross_attn=_attention(d, of.qk_norm, of.framed),
        ffn=Block({"0": Linear(d, of.ffn_dim, True), "2": Linear(of.ffn_dim, d, True)}, "mlp"),
    )
    return block(
        patch_embedding=patches(of.in_dim, d, *of.patch_size),
        text_embedding=two(of.text_dim),
        time_embedding=two(of.freq_dim),
        time_projection=Block({"1": Linear(d, 6 * d, True)}, "embedding"),
        blocks=Repeat(Indices.below(of.num_layers), layer),
        head=block(modulation=table(1, 2, d), head=Linear(d, of.out_dim * prod(of.patch_size), True)),
        img_emb=_image(d) if of.framed else None,
        vace_blocks=None if of.vace is None else _beside(layer, d, of.vace),
        vace_patch_embedding=None if of.vace is None else patches(of.vace.in_dim, d, *of.patch_size),
    )


def _beside(layer: Block, d: int, of: Vace) -> tuple[Repeat, ...]:
    """Layers that each give something to one of the model's own; that beside the first of these reads that, too."""
    after, first = Linear(d, d, True), Indices.fixed(of.first)
    every = Indices.below(of.layers)
    return (
        Repeat(first, altered(layer, before_proj=after, after_proj=after)),
        Repeat(every.difference(first), altered(layer, after_proj=after)),
    )


def _attention(d: int, normed: bool, framed: bool = False) -> Block:
    """Attention; with `framed` to an image, too."""
    names = ("q", "k", "v", "o", *(("k_img", "v_img") if framed else ()))
    norms = ("norm_q", "norm_k", *(("norm_k_img",) if framed else ()))
    linears = {name: Linear(d, d, True) for name in names}
    return Block({**linears, **{name: rms_norm(d) for name in norms if normed}}, "attention")


def _image(d: int) -> Block:
    linear, two = Linear(_IMAGE, _IMAGE, True), Linear(_IMAGE, d, True)
    proj = Block({"0": layer_norm(_IMAGE), "1": linear, "3": two, "4": layer_norm(d)})
    return block("embedding", emb_pos=Tensor((1, _PLACES, _IMAGE)), proj=proj)

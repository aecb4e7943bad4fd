"""Z-Image: a transformer that denoises images and a text as one sequence, each refined before (arXiv:2511.22699)."""

from hfcount.keys import denoising, diffusion
from hfcount.mapper import Config
from hfcount.parts import numbered_swiglu, rms_norm
from hfcount.parts.diffusion_transformers import STEP_CHANNELS, normed_attention
from hfcount.spec import Record, Sizes, Spec, count, derived, flag, size
from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("ZImageTransformer2DModel",)  # diffusers 0.42.1: transformer_z_image.py

_MODULATION, _STEP = 256, 1024
"""The most channels of what modulates a layer, and those of the layer that makes it."""


class Patch(Record):
    """A size of patches that the model takes: `name` of its tensors, and its places."""

    name: str
    places: int


class ZImage(Sizes):
    """What Z-Image alone has; `siglip_feat_dim` is the width of what SigLIP sees, None if that is not asked."""

    in_channels: int = size("C")
    dim: int = size("d")
    n_heads: int = size("h")
    n_layers: int = count("L")
    n_refiner_layers: int = count("N_r")
    cap_feat_dim: int = size("d_t")
    qk_norm: bool = flag()
    siglip_feat_dim: int | None = derived(lambda c: denoising.nullable(c, "siglip_feat_dim", "d_v"))
    head_dim: int
    width: int
    patches: tuple[Patch, ...]


def spec(c: Config) -> Spec[ZImage]:
    d, heads = c.int("dim"), c.int("n_heads", minimum=1)
    head_dim, axes = d // heads, c.ints("axes_dims")
    if sum(axes) != head_dim:
        said = f"axes_dims come to {sum(map(int, axes)):,}, and dim / n_heads is {int(head_dim):,}."
        raise c.error("contradiction", said, "axes_dims", "Correct one of them.", observed=int(sum(axes)))
    if len(c.ints("axes_lens")) != len(axes):
        raise c.unequal("axes_lens", len(c.ints("axes_lens")), "the number of axes_dims", len(axes))
    own = ZImage.read(c, head_dim=head_dim, width=8 * d // 3, patches=_patches(c))
    return diffusion.diffusing(c, own, own.dim)


def _patches(c: Config) -> tuple[Patch, ...]:
    """The sizes of patches, each once: those of the image's sides, with those of frames."""
    sides, frames = c.ints("all_patch_size"), c.ints("all_f_patch_size")
    if len(sides) != len(frames):
        raise c.unequal("all_f_patch_size", len(frames), "the number of all_patch_size", len(sides))
    found: dict[str, int] = {}
    for place, (side, span) in enumerate(zip(sides, frames, strict=True), 1):
        edge, depth = Dim.named(f"p{place}", side), Dim.named(f"f{place}", span)
        found[f"{int(side)}-{int(span)}"] = depth * edge * edge
    return tuple(Patch(name=name, places=places) for name, places in found.items())


def blueprint(s: Spec[ZImage]) -> Block:
    d, of = s.hidden, s.own
    small = min(d, _MODULATION)
    refined = Indices.below(of.n_refiner_layers)

    def layer(modulated: bool) -> Block:
        attended = of.n_heads * of.head_dim
        out = Block({"0": Linear(attended, d)})
        norm = rms_norm(of.head_dim) if of.qk_norm else None
        return block(
            attention=normed_attention(d, attended, bias=False, norm=norm, to_out=out),
            feed_forward=numbered_swiglu(d, of.width),
            attention_norm1=rms_norm(d),
            ffn_norm1=rms_norm(d),
            attention_norm2=rms_norm(d),
            ffn_norm2=rms_norm(d),
            adaLN_modulation=_modulation("0", small, 4 * d) if modulated else None,
        )

    def taken(inputs: int) -> Block:
        return Block({"0": rms_norm(inputs), "1": Linear(inputs, d, True)}, "embedding")

    def final(places: int) -> Block:
        return block(linear=Linear(d, places * of.in_channels, True), adaLN_modulation=_modulation("1", small, d))

    patches, seen, pad = of.patches, of.siglip_feat_dim, Tensor((1, d), component="embedding")
    step = Block({"0": Linear(STEP_CHANNELS, _STEP, True), "2": Linear(_STEP, small, True)})
    return block(
        all_x_embedder=Block({one.name: Linear(one.places * of.in_channels, d, True) for one in patches}, "embedding"),
        all_final_layer=Block({one.name: final(one.places) for one in patches}),
        noise_refiner=Repeat(refined, layer(True)),
        context_refiner=Repeat(refined, layer(False)),
        t_embedder=block("embedding", mlp=step),
        cap_embedder=taken(of.cap_feat_dim),
        siglip_embedder=None if seen is None else taken(seen),
        siglip_refiner=None if seen is None else Repeat(refined, layer(False)),
        siglip_pad_token=None if seen is None else pad,
        x_pad_token=pad,
        cap_pad_token=pad,
        layers=Repeat(Indices.below(of.n_layers), layer(True)),
    )


def _modulation(name: str, inputs: int, outputs: int) -> Block:
    return Block({name: Linear(inputs, outputs, True)}, "norm")

"""Z-Image: a transformer that denoises images and a text as one sequence, each refined before (arXiv:2511.22699)."""

from hfcount.architectures.components.z_image import Patch, ZImageLayers, modulation, patches
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("ZImageTransformer2DModel",)  # diffusers 0.42.1: transformer_z_image.py

_STEP = 1024
"""The channels of the layer that makes what modulates the others."""


class ZImage(Sizes):
    """Sizes specific to Z-Image; `siglip_feat_dim` is the width of what SigLIP sees, None if that is not asked."""

    in_channels: int = size("C")
    each: ZImageLayers = derived(ZImageLayers.of)
    n_layers: int = count("L")
    cap_feat_dim: int = size("d_t")
    siglip_feat_dim: int | None = derived(lambda c: diffusion.nullable(c, "siglip_feat_dim", "d_v"))
    patches: tuple[Patch, ...] = derived(patches)


def spec(c: Config) -> Spec[ZImage]:
    sizes, axes = ZImage.read(c), c.ints("axes_dims")
    if sum(axes) != sizes.each.head_dim:
        text = f"axes_dims come to {sum(map(int, axes)):,}, and dim / n_heads is {int(sizes.each.head_dim):,}."
        raise c.error("contradiction", text, "axes_dims", "Correct one of them.", observed=int(sum(axes)))
    for key, other in (("axes_lens", "axes_dims"), ("all_f_patch_size", "all_patch_size")):
        if len(c.ints(key)) != len(c.ints(other)):
            raise c.unequal(key, len(c.ints(key)), f"the number of {other}", len(c.ints(other)))
    return diffusion.diffusing(c, sizes, sizes.each.dim)


def blueprint(s: Spec[ZImage]) -> Block:
    d, of, each = s.hidden, s.own, s.own.each
    small, refined = each.modulating, Indices.below(each.n_refiner_layers)

    def taken(inputs: int) -> Block:
        return Block({"0": rms_norm(inputs), "1": Linear(inputs, d, True)}, "embedding")

    def final(places: int) -> Block:
        return block(linear=Linear(d, places * of.in_channels, True), adaLN_modulation=modulation("1", small, d))

    sizes, image_width, pad = of.patches, of.siglip_feat_dim, Tensor((1, d), component="embedding")
    step = Block({"0": Linear(STEP_CHANNELS, _STEP, True), "2": Linear(_STEP, small, True)})
    return block(
        all_x_embedder=Block({size.name: Linear(size.places * of.in_channels, d, True) for size in sizes}, "embedding"),
        all_final_layer=Block({size.name: final(size.places) for size in sizes}),
        noise_refiner=Repeat(refined, each.layer(True)),
        context_refiner=Repeat(refined, each.layer(False)),
        t_embedder=block("embedding", mlp=step),
        cap_embedder=taken(of.cap_feat_dim),
        siglip_embedder=None if image_width is None else taken(image_width),
        siglip_refiner=None if image_width is None else Repeat(refined, each.layer(False)),
        siglip_pad_token=None if image_width is None else pad,
        x_pad_token=pad,
        cap_pad_token=pad,
        layers=Repeat(Indices.below(of.n_layers), each.layer(True)),
    )

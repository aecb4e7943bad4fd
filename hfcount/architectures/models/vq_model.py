"""VQModel of diffusers: an autoencoder whose latents are rows of a table of codes (arXiv:2012.09841)."""

from hfcount.architectures.layers import altered, diffusion
from hfcount.architectures.layers.diffusion.layers import (
    OLD_ATTENTION,
    conv,
    decoder,
    encoder,
    ending,
    middle,
)
from hfcount.mapper import Config, Sizes, count, derived, flag, optional, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: vq_model.py, vae.py
MODEL_TYPES = ("VQModel",)
SPELLINGS = OLD_ATTENTION

_DOWN = {"DownEncoderBlock2D": False, "AttnDownEncoderBlock2D": True}
_UP = {"UpDecoderBlock2D": False, "AttnUpDecoderBlock2D": True}


class VQModel(Sizes):
    widths: tuple[int, ...]
    down: tuple[bool, ...]
    up: tuple[bool, ...]
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("L", minimum=0)
    num_vq_embeddings: int = size("n")
    vq_embed_dim: int | None = optional("d_v")
    mid_block_add_attention: bool = flag()
    norm_type: str = derived(lambda c: c.str("norm_type"))


def spec(c: Config) -> Spec[VQModel]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    if c.str("norm_type") == _SPATIAL:
        diffusion.check_parts(c, widths, 32, "groups of a norm")
    elif c.str("norm_type") == "ada_group":
        raise c.error("unknown-kind", "norm_type is ada_group, which needs the embedding of a step.", "norm_type")
    sizes = VQModel.read(
        c,
        widths=widths,
        down=diffusion.stage_kinds(c, "down_block_types", _DOWN, len(widths)),
        up=diffusion.stage_kinds(c, "up_block_types", _UP, len(widths)),
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def blueprint(s: Spec[VQModel]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    d = latent if of.vq_embed_dim is None else of.vq_embed_dim
    between = middle(widths[-1], of.mid_block_add_attention)
    behind, last = ending(widths[-1], latent), ending(widths[0], of.out_channels)
    later = between if of.norm_type in _GROUPED else _ungrouped(between)
    back: Node = decoder(latent, widths, of.up, of.layers_per_block, mid_block=later, **last)
    codes = block("embedding", weight=Tensor((of.num_vq_embeddings, d)))
    return block(
        encoder=encoder(of.in_channels, widths, of.down, of.layers_per_block, mid_block=between, **behind),
        quant_conv=conv(latent, d, 1),
        quantize=block(embedding=codes),
        post_quant_conv=conv(d, latent, 1),
        decoder=_spatial(back, latent) if of.norm_type == _SPATIAL else back,
    )


_SPATIAL, _GROUPED = "spatial", ("group", "default", "spatial")


def _spatial(node: Node, latent: int) -> Node:
    """The same with norms that are set by the latents, which are `latent` wide (arXiv:2209.09002)."""
    if isinstance(node, Repeat):
        return Repeat(node.indices, _spatial(node.body, latent))
    if isinstance(node, tuple):
        return tuple(_spatial(node, latent) for node in node)
    if not isinstance(node, Block):
        return node
    children = dict[str, Node]()
    for name, child in node.children.items():
        if name in ("norm1", "norm2", "conv_norm_out", "group_norm") and isinstance(child, Block):
            weight = child.children["weight"]
            assert isinstance(weight, Tensor)
            set_by = conv(latent, weight.shape[0], 1)
            name = "spatial_norm" if name == "group_norm" else name
            children[name] = block(norm_layer=child, conv_y=set_by, conv_b=set_by)
        else:
            children[name] = _spatial(child, latent)
    return Block(children, node.component)


def _ungrouped(between: Block) -> Block:
    """The middle without a norm in its attention, which it has for some kinds of norms alone."""
    attentions = between.children.get("attentions")
    if not isinstance(attentions, Block):
        return between
    attention = attentions.children["0"]
    assert isinstance(attention, Block)
    left = {name: child for name, child in attention.children.items() if name != "group_norm"}
    return altered(between, attentions=Block({"0": Block(left, attention.component)}))

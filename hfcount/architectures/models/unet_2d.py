"""The U-Net of DDPM and of many models without a text (arXiv:2006.11239)."""

from hfcount.architectures.components.unet_keys import Kind, Stage, Stages
from hfcount.architectures.components.unet_stages import Halves
from hfcount.architectures.components.unets import DOWN, MIDDLES, UP, check_groups
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv, image_attention, residual, time_embedding
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: unet_2d.py, unet_2d_blocks.py
MODEL_TYPES = ("UNet2DModel",)

_RESIZED = {"conv": "conv", "resnet": "residual"}


class UNet2D(Sizes):
    """Sizes specific to this architecture.

    Args:
        clock: the width of the features of a step, and the shape of what they are made by.
        attends: whether the middle does.
        grouped: whether attention in the middle normalises first.
        class_kind: how a class is embedded, and `classes` how many there are.
    """

    stages: Stages
    halves: Halves
    clock: tuple[int, tuple[int, ...]]
    attends: bool
    grouped: bool
    class_kind: str | None
    classes: int | None
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")


def spec(c: Config) -> Spec[UNet2D]:
    widths = diffusion.stage_widths(c)
    stages = Stages(down=_way(c, "down", widths), middle=_middle(c, widths[-1]), up=_way(c, "up", widths[::-1]))
    check_groups(c, stages)
    diffusion.activation(c, "act_fn")
    shift = c.choice("resnet_time_scale_shift", ("default", "scale_shift"))
    time = diffusion.nullable(c, "time_embedding_dim", "d_t") or widths[0] * 4
    grouped = not c.is_null("attn_norm_num_groups")
    if grouped and stages.middle and c.bool("add_attention"):
        diffusion.check_groups(c, [widths[-1]], "attn_norm_num_groups")
    sizes = UNet2D.read(
        c,
        stages=stages,
        halves=Halves(time=time, scaled=shift == "scale_shift", linear=False),
        clock=_clock(c, widths[0]),
        attends=c.bool("add_attention"),
        grouped=grouped or shift == "default",
        class_kind=diffusion.text_of(c, "class_embed_type"),
        classes=diffusion.nullable(c, "num_class_embeds", "n_c"),
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def _head_dim(c: Config, width: int) -> int:
    """The width of a head in a stage that is `width` wide."""
    given = diffusion.nullable(c, "attention_head_dim", "h_d")
    return width if given is None else given


def _way(c: Config, way: str, widths: tuple[int, ...]) -> tuple[Stage, ...]:
    """The stages of one way, from the first that is run."""
    key, resized = f"{way}_block_types", diffusion.text_of(c, f"{way}sample_type") or "conv"
    known = {name: kind for name, kind in (DOWN | UP).items() if kind.attends in ("", "image")}
    kinds = diffusion.stage_kinds(c, key, known, len(widths))
    if len(kinds) != len(widths):
        raise c.unequal(key, len(kinds), "the number of entries of block_out_channels", len(widths))
    made = list[Stage]()
    for kind, width in zip(kinds, widths, strict=True):
        if kind.attends and kind.body == "plain":
            kind = kind._replace(resize=_RESIZED.get(resized, ""))
        made.append(_stage(c, kind, width))
    return tuple(made)


def _stage(c: Config, kind: Kind, width: int) -> Stage:
    head = _head_dim(c, width)
    if kind.attends and not 0 < head <= width:
        text = f"attention_head_dim is {int(head):,}, and a stage {int(width):,} wide."
        c.cannot_run("out-of-range", text, "attention_head_dim", observed=int(head))
    return Stage(
        kind=kind,
        width=width,
        layers=c.int("layers_per_block"),
        heads=1,
        head_dim=head,
        depths=(),
        memory=0,
        only=False,
    )


def _middle(c: Config, width: int) -> Stage | None:
    """The middle, which is of one kind whatever its name."""
    if c.is_null("mid_block_type"):
        return None
    c.str("mid_block_type")
    return _stage(c, MIDDLES["UNetMidBlock2D"]._replace(attends="image" if c.bool("add_attention") else ""), width)


def _clock(c: Config, first: int) -> tuple[int, tuple[int, ...]]:
    """What a step is embedded by: sines, Fourier features, or the rows of a table."""
    kind = c.choice("time_embedding_type", ("positional", "fourier", "learned"))
    if kind == "learned":
        return first, (Dim.named("n_t", c.int("num_train_timesteps")), first)
    return (2 * first, (first,)) if kind == "fourier" else (first, ())


def blueprint(s: Spec[UNet2D]) -> Block:
    of, halves, (inputs, shape) = s.own, s.own.halves, s.own.clock
    first, time = of.stages.down[0].width, halves.time
    classes: Node | None = time_embedding(inputs, time) if of.class_kind == "timestep" else None
    if of.class_kind is None and of.classes is not None:
        classes = block("embedding", weight=Tensor((of.classes, time)))
    return block(
        conv_in=conv(of.in_channels, first),
        time_proj=block("embedding", weight=Tensor(shape)) if shape else None,
        time_embedding=time_embedding(inputs, time),
        class_embedding=classes,
        down_blocks=halves.down(of.stages.down),
        mid_block=_between(of),
        up_blocks=halves.up(of.stages.up),
        conv_norm_out=layer_norm(first),
        conv_out=conv(first, of.out_channels),
    )


def _between(of: UNet2D) -> Block | None:
    """The middle: two residual blocks, and attention between them if it attends."""
    stage = of.stages.middle
    if stage is None:
        return None
    d, both = stage.width, Indices.fixed(0, 1)
    heed: Node | None = None
    if of.attends:
        attention = image_attention(d, stage.head_dim * (d // stage.head_dim))
        left = {name: node for name, node in attention.children.items() if of.grouped or name != "group_norm"}
        heed = Block({"0": Block(left, attention.component)})
    return block(attentions=heed, resnets=Repeat(both, residual(d, d, of.halves.time, of.halves.scaled)))

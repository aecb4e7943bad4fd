"""AnimateDiff's U-Net of videos: one of images, with transformers over frames behind each place (arXiv:2307.04725)."""

from collections.abc import Mapping, Sequence

from hfcount.architectures import keys
from hfcount.architectures.components.motion import Motion, check_motion
from hfcount.architectures.components.unet_frames import between, both_depths, read_stages, way_down, way_up
from hfcount.architectures.components.unet_keys import Depths, Stage, Stages, check_depths, check_heads
from hfcount.architectures.components.unet_stages import transformer
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import conv, numbered, residual, time_embedding
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

# diffusers 0.42.1: unet_motion_model.py, transformer_2d.py, attention.py
MODEL_TYPES = ("UNetMotionModel",)

_HEADS, _DEPTHS = "motion_num_attention_heads", "temporal_transformer_layers_per_block"
_DEPTH, _MIDDLE = "transformer_layers_per_mid_block", "mid_block_layers"


class Filmed(Stage):
    """A stage, and what each of its residual blocks has over frames; the middle may have nothing."""

    motion: Motion | None


class UNetMotion(Sizes):
    """What it has beside `stages`; `condition` and `added` are widths of what is added to a step."""

    stages: Stages
    condition: int | None
    added: int | None
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    use_linear_projection: bool = flag()


def spec(c: Config) -> Spec[UNetMotion]:
    diffusion.activation(c, "act_fn")
    plain = read_stages(c, "Motion", "num_attention_heads", exactly=True)
    widths = [stage.width for stage in plain.down]
    diffusion.check_groups(c, widths)
    stages = _filmed(c, plain, widths)
    kind = "encoder_hid_dim_type"
    if not c.is_null(kind):
        text = f"{kind} is given, and diffusers makes no projection of it, which the model then looks for."
        c.cannot_run("contradiction", text, kind)
    sizes = UNetMotion.read(
        c,
        stages=stages,
        condition=diffusion.nullable(c, "time_cond_proj_dim", "d_g"),
        added=_added(c),
    )
    return diffusion.diffusing(c, sizes, stages.deepest)


def _added(c: Config) -> int | None:
    """The width of the embedding of times and texts, if there is one; other words make none."""
    kind = "addition_embed_type"
    if c.is_null(kind) or c.str(kind) != "text_time":
        return None
    return diffusion.sized(c, "projection_class_embeddings_input_dim", "d_p")


def _filmed(c: Config, plain: Stages, widths: Sequence[int]) -> Stages:
    """The stages, each with its modules over frames."""
    heads, frames = _heads(c, len(widths)), c.int("motion_max_seq_length")
    deep, back = both_depths(c, _DEPTHS, len(widths), True, "T_f")
    check_motion(c, widths, heads)

    def stages(way: Sequence[Stage], heads: Sequence[int], deep: Sequence[Depths], more: int) -> tuple[Filmed, ...]:
        made = list[Filmed]()
        for stage, head_count, depth in zip(way, heads, deep, strict=False):
            check_depths(c, depth, stage.layers + more, True, _DEPTHS)
            motion = Motion(width=stage.width, heads=head_count, frames=frames, depths=depth.each)
            made.append(Filmed(**vars(stage), motion=motion))
        return tuple(made)

    down = stages(plain.down, heads, deep, 0)
    return Stages(down=down, middle=_middle(c, down[-1], heads[-1], frames), up=stages(plain.up, heads[::-1], back, 1))


def _heads(c: Config, count: int) -> Sequence[int]:
    """The heads over frames of each stage; of a longer list the way down reads the first, the way up the last."""
    if not isinstance(diffusion.held(c, _HEADS), list):
        return [keys.dim("h_f", c.int(_HEADS))] * count
    heads = c.ints(_HEADS, minimum=1)
    if len(heads) < count:
        raise c.unequal(_HEADS, len(heads), "the number of stages", count)
    return [keys.dim(f"h_f{number}", entry) for number, entry in enumerate(heads, 1)]


def _middle(c: Config, last: Filmed, heads: int, frames: int) -> Filmed:
    """The middle, as wide as the last stage on the way down."""
    moving, count = c.bool("use_motion_mid_block"), c.int(_MIDDLE, minimum=0)
    motion = None
    if moving:
        deep = _each(c, "temporal_transformer_layers_per_mid_block", count, "T_fm", True)
        motion = Motion(width=last.width, heads=heads, frames=frames, depths=deep)
        check_motion(c, [last.width], [heads])
    check_heads(c, "num_attention_heads", last.heads, last.width)
    depths = _usual(c) if c.is_null(_DEPTH) else _each(c, _DEPTH, count, "T_m", moving)
    return last.replace(kind=last.kind._replace(attends="text"), layers=count, depths=depths, motion=motion)


def _usual(c: Config) -> tuple[int]:
    """The layers of a transformer in the middle without a key for it: those of the last stage, if it has one number."""
    key = "transformer_layers_per_block"
    listed = diffusion.held(c, key)
    if isinstance(listed, int):
        return (keys.dim("T", c.int(key)),)
    if isinstance(listed, list) and listed and isinstance(listed[-1], int):
        return (keys.derived_dim(c, f"T{len(listed)}", listed[-1], f"{key}[{len(listed) - 1}]"),)
    return (1,)


def _each(c: Config, key: str, count: int, symbol: str, exactly: bool) -> tuple[int, ...]:
    """The layers of each transformer in the middle, from a list, or of all from one number."""
    if not isinstance(diffusion.held(c, key), list):
        return (keys.dim(symbol, c.int(key, minimum=0)),)
    given = c.ints(key, minimum=0)
    if len(given) < count or (exactly and len(given) != count):
        raise c.unequal(key, len(given), _MIDDLE, count)
    return tuple(keys.dim(f"{symbol}{number}", entry) for number, entry in enumerate(given, 1))


def blueprint(s: Spec[UNetMotion]) -> Block:
    of, stages = s.own, s.own.stages
    first = stages.down[0].width
    time = 4 * first
    assert stages.middle is not None

    def body(inputs: int, outputs: int) -> Block:
        return residual(inputs, outputs, time)

    def beside(stage: Stage, count: int) -> Mapping[str, Node | None]:
        return _beside(stage, count, of.use_linear_projection)

    return block(
        conv_in=conv(of.in_channels, first),
        time_embedding=time_embedding(first, time, condition=of.condition),
        add_embedding=None if of.added is None else time_embedding(of.added, time),
        down_blocks=way_down(stages.down, body, beside),
        mid_block=between(stages.middle, body, beside, stages.middle.layers),
        up_blocks=way_up(stages.up, body, beside),
        conv_norm_out=layer_norm(first),
        conv_out=conv(first, of.out_channels),
    )


def _beside(stage: Stage, count: int, linear: bool) -> Mapping[str, Node | None]:
    """What a stage has beside residual blocks: transformers over places, and over frames."""
    assert isinstance(stage, Filmed)
    children = dict[str, Node | None]()
    if stage.kind.attends and len(stage.depths) == 1:
        children["attentions"] = Repeat(Indices.below(count), transformer(stage, stage.depths[0], linear))
    elif stage.kind.attends:
        children["attentions"] = numbered([transformer(stage, depth, linear) for depth in stage.depths[: int(count)]])
    return {**children, "motion_modules": stage.motion.modules(count) if stage.motion else None}

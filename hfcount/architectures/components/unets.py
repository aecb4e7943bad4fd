"""The stages of diffusers' U-Nets by their keys: on the way down, in the middle, and on the way up."""

from collections.abc import Iterator, Sequence

from hfcount.architectures.components.unet_keys import (
    Depths,
    Stage,
    StageKind,
    Stages,
    check_depths,
    check_heads,
    depths,
    each,
)
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.text import shown

_PLAIN, _RESIDUAL = StageKind(), StageKind(resize="residual")
_STEMS = {
    "": _PLAIN,
    "CrossAttn": StageKind("text"),
    "SimpleCrossAttn": StageKind("added", resize="residual"),
    "Attn": StageKind("image"),
    "Skip": StageKind(body="skip", resize=""),
    "AttnSkip": StageKind("image", "skip", ""),
    "K": StageKind(body="k", resize=""),
    "KCrossAttn": StageKind("k", "k", ""),
}
DOWN = {f"{stem}DownBlock2D": kind for stem, kind in _STEMS.items()} | {"ResnetDownsampleBlock2D": _RESIDUAL}
UP = {f"{stem}UpBlock2D": kind for stem, kind in _STEMS.items()} | {"ResnetUpsampleBlock2D": _RESIDUAL}

MIDDLES = {
    "UNetMidBlock2DCrossAttn": StageKind("text", resize=""),
    "UNetMidBlock2D": StageKind(resize=""),
    "UNetMidBlock2DSimpleCrossAttn": StageKind("added", resize=""),
}
"""Kinds of middle blocks; the last is for U-Nets alone, not for ControlNets."""
_USUAL = "UNetMidBlock2DCrossAttn"


def read_stages(c: Config, upward: bool = True, middle: bool = True) -> Stages:
    """The stages by their keys; the way up, if there is one, reads all lists but one from their ends.

    Without a key for it, the `middle` attends to text.

    Raises:
        ConfigError: a list has not an entry for each stage, or a kind is unknown.
        UnknownArchitecture: a kind of stage is not described.
    """
    widths = diffusion.stage_widths(c)
    count = len(widths)
    down = diffusion.stage_kinds(c, "down_block_types", DOWN, count)
    up = diffusion.stage_kinds(c, "up_block_types", UP, count) if upward else ()
    for key, kinds in (("down_block_types", down), *([("up_block_types", up)] if upward else [])):
        if len(kinds) != count:
            raise c.unequal(key, len(kinds), "the number of entries of block_out_channels", count)
    _refuse_heads(c, upward)
    key = "num_attention_heads" if c.given("num_attention_heads") else "attention_head_dim"
    rows = _Rows(
        key=key,
        widths=widths,
        layers=each(c, "layers_per_block", "L", count, upward),
        heads=each(c, key, "h", count),
        head_dims=each(c, "attention_head_dim", "h", count),
        memory=each(c, "cross_attention_dim", "d_c", count, upward),
        only=_only(c, count),
    )
    deep = depths(c, "transformer_layers_per_block", count)
    back = deep[::-1]
    if upward and not c.is_null("reverse_transformer_layers_per_block"):
        c.entries("reverse_transformer_layers_per_block")  # which is a list, unlike the other
        back = depths(c, "reverse_transformer_layers_per_block", count)
    elif upward and any(isinstance(entry, list) for entry in _entries(c, "transformer_layers_per_block")):
        text = "transformer_layers_per_block has lists, and reverse_transformer_layers_per_block is null."
        raise c.error("contradiction", text, "reverse_transformer_layers_per_block", "Give it too.")
    way = rows.stages(c, down, deep, 1)
    name = _middle(c, upward) if middle else _USUAL
    inner = way[-1].replace(depths=deep[-1].each[:1], layers=1, only=_only_text(c, name), kind=MIDDLES[name or _USUAL])
    if name == _USUAL:
        check_heads(c, key, inner.heads, inner.width)
    result = Stages(down=way, middle=inner if name else None, up=rows.stages(c, up, back, -1))
    check_groups(c, result)
    return result


class _Rows(Record):
    """The per-stage settings beside kinds and transformer depths."""

    key: str
    widths: Sequence[int]
    layers: Sequence[int]
    heads: Sequence[int]
    head_dims: Sequence[int]
    memory: Sequence[int]
    only: Sequence[bool]

    def stages(self, c: Config, kinds: Sequence[StageKind], deep: Sequence[Depths], step: int) -> tuple[Stage, ...]:
        """The stages of one way: down with a step of 1, and up with one of -1."""
        columns = (column[::step] for column in (self.widths, self.layers, self.heads, self.memory, self.only))
        made = list[Stage]()
        # The width of a head is the one that no way reads from its end.
        for kind, depth, head_dim, *row in zip(kinds, deep, self.head_dims, *columns, strict=False):
            width, many, heads, memory, only = row
            if kind.attends == "text":
                check_heads(c, self.key, heads, width)
                check_depths(c, depth, many + (step < 0))
            elif kind.attends and head_dim > width:
                text = f"attention_head_dim gives {int(head_dim):,} to a head of a stage that is {int(width):,} wide."
                c.cannot_run("out-of-range", text, "attention_head_dim", observed=int(head_dim))
            stage = Stage(
                kind=kind,
                width=width,
                layers=many,
                heads=heads,
                head_dim=head_dim,
                depths=depth.each,
                memory=memory,
                only=only,
            )
            made.append(stage)
        return tuple(made)


def _middle(c: Config, complete: bool) -> str | None:
    """The kind of the middle; None if a `complete` U-Net has none."""
    if complete and c.is_null("mid_block_type"):
        return None
    name, known = c.str("mid_block_type"), list(MIDDLES)[: 3 if complete else 2]
    if name not in known:
        text = f"mid_block_type is {shown(name)}, but must be {' or '.join(known)}{', or null' if complete else ''}."
        raise c.error("unknown-kind", text, "mid_block_type", observed=name)
    return name


def _only_text(c: Config, name: str | None) -> bool:
    """Whether a middle of that kind attends to text alone."""
    if name is None or MIDDLES[name].attends != "added":
        return False
    only = c.value("mid_block_only_cross_attention")
    return bool(c.value("only_cross_attention") is True if only is None else only)


def _entries(c: Config, key: str) -> list[object]:
    value = c.value(key)
    return value if isinstance(value, list) else [value]


def _only(c: Config, count: int) -> list[bool]:
    key = "only_cross_attention"
    if not isinstance(c.value(key), list):
        return [c.bool(key)] * count
    value = c.entries(key)
    if len(value) != count:
        raise c.unequal(key, len(value), "the number of stages", count)
    return [bool(entry) for entry in value]


def _refuse_heads(c: Config, complete: bool) -> None:
    """Refuses a number of heads, which diffusers refuses in a `complete` U-Net."""
    if complete and c.given("num_attention_heads"):
        text = (
            "num_attention_heads is given, which diffusers refuses: attention_head_dim says how many heads there are."
        )
        raise c.error("contradiction", text, "num_attention_heads", "Set it to null.")


_TEXT_NORMS = ("group_norm", "layer_norm")
_FEW, _MOST = 4, 32
"""Channels of a group where the config does not say how many groups there are, and the most groups."""


def check_groups(c: Config, stages: Stages) -> None:
    """Refuses widths that cannot be normalised in groups, of which each stage has as many as its kind says.

    Raises:
        ConfigError: a width is no multiple of the number of groups.
    """
    given = not c.is_null("norm_num_groups")
    for stage, upward, pairs in _inputs(stages):
        if stage.kind.body == "plain":
            if not given:
                raise c.error("contradiction", "norm_num_groups is null, and stages need it.", "norm_num_groups")
            diffusion.check_groups(c, [stage.width, *map(sum, pairs)])
        elif stage.kind.body == "skip":
            _check_multiple(c, stage.width, min(stage.width // _FEW, _MOST))
            for read, beside in pairs:
                channels = (
                    read * _FEW + beside if upward and stage.kind.attends else read + beside
                )  # as diffusers has it
                _check_multiple(c, read + beside, min(channels // _FEW, _MOST))
            if stage.kind.attends:
                _check_multiple(c, stage.width, _MOST)
    _check_text(c, stages)
    ends = ([stages.down[0].width] if stages.up else []) + ([stages.middle.width] if stages.middle else [])
    if given:
        diffusion.check_groups(c, ends)
    elif stages.middle:
        _check_multiple(c, stages.middle.width, min(stages.middle.width // _FEW, _MOST))


def _check_text(c: Config, stages: Stages) -> None:
    """Refuses a norm of the text that there is not, or a text that cannot be normalised in groups."""
    key = "cross_attention_norm"
    for stage in (*stages.down, *([stages.middle] if stages.middle else []), *stages.up):
        if stage.kind.attends == "added" and c.value(key) is not None and c.choice(key, _TEXT_NORMS) == _TEXT_NORMS[0]:
            _check_multiple(c, stage.memory, _MOST, "cross_attention_dim")


def _inputs(stages: Stages) -> Iterator[tuple[Stage, bool, list[tuple[int, int]]]]:
    """Each stage, whether it is on the way up, and what its blocks read: what was before, and what lies beside."""
    for way in (stages.down, stages.up):
        before = way[0].width if way else 0
        for place, stage in enumerate(way):
            inner = [(stage.width, stage.width)] if stage.layers > 1 else []
            beside = way[min(place + 1, len(way) - 1)].width
            read = [(before, 0)] if way is stages.down else [(before, stage.width), *inner, (stage.width, beside)]
            yield stage, way is stages.up, read
            before = stage.width


def _check_multiple(c: Config, width: int, groups: int, key: str = "block_out_channels") -> None:
    if not groups or width % groups:
        text = f"{key} makes a stage read {int(width):,} channels, which cannot be normalised in {int(groups)} groups."
        raise c.error("not-divisible", text, key, "Correct it.", observed=int(width))

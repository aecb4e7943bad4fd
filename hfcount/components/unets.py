"""The stages of diffusers' U-Nets that attend to text, on the way down and up."""

from collections.abc import Sequence

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys import diffusion
from hfcount.mapper import Config
from hfcount.parts.diffusion import (
    attention,
    conv,
    feed_forward,
    numbered,
    resampling,
    residual,
    residuals,
)
from hfcount.parts.norms import layer_norm
from hfcount.spec import Record
from hfcount.text import shown
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, block

_DOWN = {"DownBlock2D": False, "CrossAttnDownBlock2D": True}
_UP = {"UpBlock2D": False, "CrossAttnUpBlock2D": True}
_MIDDLES = ("UNetMidBlock2DCrossAttn", "UNetMidBlock2D")
_GATED = ("gated", "gated-text-image")


class Stage(Record):
    """Residual blocks of one width.

    Args:
        layers: how many.
        attends: whether a transformer is behind each.
        depths: the layers of these transformers: of each, or one number for all.
        memory: the width of what they attend to.
        only: whether they attend to nothing else.
    """

    width: int
    layers: int
    attends: bool
    heads: int
    depths: tuple[int, ...]
    memory: int
    only: bool


class Stages(Record):
    """All stages: on the way down, `middle` (its kind, and the stage it is like), and on the way up."""

    down: tuple[Stage, ...]
    kind: str
    middle: Stage
    up: tuple[Stage, ...]


def read_stages(c: Config, upward: bool = True) -> Stages:
    """The stages by their keys; the way up, if there is one, reads all lists from their ends.

    Raises:
        ConfigError: a list has not an entry for each stage, or a kind is unknown.
        UnknownArchitecture: a kind of stage or attention is not described.
    """
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    count = len(widths)
    down = diffusion.stage_kinds(c, "down_block_types", _DOWN, count)
    up = diffusion.stage_kinds(c, "up_block_types", _UP, count) if upward else ()
    for key, kinds in (("down_block_types", down), *([("up_block_types", up)] if upward else [])):
        if len(kinds) != count:
            raise c.unequal(key, len(kinds), "the number of entries of block_out_channels", count)
    middle = _middle(c, upward)
    if upward:
        _check_attention(c, middle == _MIDDLES[0] or True in (*down, *up))
    key = "num_attention_heads" if c.given("num_attention_heads") else "attention_head_dim"
    layers, heads = _each(c, "layers_per_block", "L", count, upward), _each(c, key, "h", count)
    memory, only = _each(c, "cross_attention_dim", "d_c", count, upward), _only(c, count)
    depths = _depths(c, "transformer_layers_per_block", count)

    def stages(kinds: Sequence[bool], deep: Sequence[tuple[int, ...]], more: int, step: int) -> tuple[Stage, ...]:
        columns = (one[::step] for one in (widths, layers, heads, memory, only))
        rows = zip(kinds, deep, *columns, strict=False)
        for attends, width, own in zip(kinds, widths[::step], heads[::step], strict=False):
            _check_heads(c, key, own, width if attends else own)
        return tuple(
            Stage(
                width=width,
                layers=many,
                attends=attends,
                heads=own,
                depths=_enough(c, depth, many + more) if attends else depth,
                memory=wide,
                only=alone,
            )
            for attends, depth, width, many, own, wide, alone in rows
        )

    back = list(depths[::-1])
    if upward and not c.is_null("reverse_transformer_layers_per_block"):
        c.entries("reverse_transformer_layers_per_block")  # which is a list, unlike the other
        back = _depths(c, "reverse_transformer_layers_per_block", count)
    elif upward and any(isinstance(one, list) for one in _entries(c, "transformer_layers_per_block")):
        said = "transformer_layers_per_block has lists, and reverse_transformer_layers_per_block is null."
        raise c.error("contradiction", said, "reverse_transformer_layers_per_block", "Give it too.")
    way = stages(down, depths, 0, 1)
    _check_heads(c, key, heads[-1], widths[-1] if middle == _MIDDLES[0] else heads[-1])
    last = way[-1].replace(depths=depths[-1][:1], only=False, layers=1)
    return Stages(down=way, kind=middle, middle=last, up=stages(up, back, 1, -1))


def _middle(c: Config, absent: bool) -> str:
    """The kind of the middle; "" if there is none, where that may be `absent`."""
    if absent and c.is_null("mid_block_type"):
        return ""
    kind = c.str("mid_block_type")
    if absent and kind == "UNetMidBlock2DSimpleCrossAttn":
        raise UnknownArchitecture(f"{c.where}: a middle of kind {kind} is not described.")
    if kind not in _MIDDLES:
        said = f"mid_block_type is {shown(kind)}, and must be {' or '.join(_MIDDLES)}{', or null' if absent else ''}."
        raise c.error("unknown-kind", said, "mid_block_type", observed=kind)
    return kind


def _entries(c: Config, key: str) -> list[object]:
    found = c.value(key)
    return found if isinstance(found, list) else [found]


def _each(c: Config, key: str, symbol: str, count: int, listed: bool = True) -> list[int]:
    """A number for each stage, from one number or, where it may be `listed`, a list."""
    if not (listed and isinstance(c.value(key), list)):
        return [keys.dim(symbol, c.int(key))] * count
    found = c.ints(key, minimum=1)
    if len(found) != count:
        raise c.unequal(key, len(found), "the number of stages", count)
    return [keys.dim(f"{symbol}{number}", one) for number, one in enumerate(found, 1)]


def _only(c: Config, count: int) -> list[bool]:
    key = "only_cross_attention"
    if not isinstance(c.value(key), list):
        return [c.bool(key)] * count
    found = c.entries(key)
    if len(found) != count:
        raise c.unequal(key, len(found), "the number of stages", count)
    return [bool(one) for one in found]


def _depths(c: Config, key: str, count: int) -> list[tuple[int, ...]]:
    """The layers of the transformers in each stage, with an entry for each of these where they differ."""
    if c.is_int(key) or not c.given(key):
        return [(keys.dim("T", c.int(key)),)] * count
    found = list[tuple[int, ...]]()
    for place, one in enumerate(c.entries(key)):
        nested, listed = isinstance(one, list), one if isinstance(one, list) else [one]
        if not listed or any(type(depth) is not int or depth < 0 for depth in listed):
            raise c.malformed(f"{key} must hold whole numbers, or lists of such.", key, observed=shown(one))
        rows = list[int]()
        for inner, depth in enumerate(listed):
            letter, source = f"T{place + 1}", f"{c.path(key)}[{place}]"
            own = (f"{letter}_{inner + 1}", depth, f"{source}[{inner}]") if nested else (letter, depth, source)
            rows.append(keys.derived_dim(c, *own))
        found.append(tuple(rows))
    if len(found) < count:
        raise c.unequal(key, len(found), "the number of stages", count)
    return found


def _check_heads(c: Config, key: str, heads: int, width: int) -> None:
    if heads > width:
        said = f"{key} gives {int(heads):,} heads to a stage that is {int(width):,} wide."
        raise c.error("out-of-range", said, key, "It says how many heads there are, whatever its name.")


def _enough(c: Config, depths: tuple[int, ...], count: int) -> tuple[int, ...]:
    if 1 < len(depths) < count:
        key = "transformer_layers_per_block"
        raise c.unequal(key, len(depths), "the number of transformers in the stage", count)
    return depths


def _check_attention(c: Config, attends: bool) -> None:
    """Refuses what the library refuses of attention, and says what is not described."""
    if c.given("num_attention_heads"):
        said = (
            "num_attention_heads is given, which diffusers refuses: attention_head_dim says how many heads there are."
        )
        raise c.error("contradiction", said, "num_attention_heads", "Set it to null.")
    if attends and c.bool("dual_cross_attention", default=False):
        raise UnknownArchitecture(f"{c.where}: what dual_cross_attention brings is not described.")
    if c.str("attention_type", default="default") in _GATED:
        raise UnknownArchitecture(f"{c.where}: attention of type gated is not described.")


def transformer(one: Stage, depth: int, linear: bool) -> Block:
    """A transformer over the places of an image. Tensors: norm, proj_in, transformer_blocks and proj_out."""
    d, inner = one.width, one.heads * (one.width // one.heads)
    first = attention(inner, inner, one.memory if one.only else None, bias=False)
    layer = block(
        norm1=layer_norm(inner),
        attn1=first,
        norm2=layer_norm(inner),
        attn2=attention(inner, inner, one.memory, bias=False),
        norm3=layer_norm(inner),
        ff=feed_forward(inner, 4 * inner, gated=True),
    )

    def project(inputs: int, outputs: int) -> Node:
        return Linear(inputs, outputs, True, "projector") if linear else conv(inputs, outputs, 1)

    return block(
        norm=layer_norm(d),
        proj_in=project(d, inner),
        transformer_blocks=Repeat(Indices.below(depth), layer),
        proj_out=project(inner, d),
    )


def transformers(one: Stage, count: int, linear: bool) -> Node | None:
    """The transformers of a stage, a number of them."""
    if not one.attends:
        return None
    if len(one.depths) == 1:
        return Repeat(Indices.below(count), transformer(one, one.depths[0], linear))
    return numbered([transformer(one, depth, linear) for depth in one.depths[: int(count)]])


class Halves(Record):
    """How the stages are laid out: `time` is the width of what a residual block reads of the step."""

    time: int
    scaled: bool
    linear: bool

    @classmethod
    def of(cls, c: Config, time: int) -> "Halves":
        """By the keys of a U-Net that embeds a step in `time` elements; what its class does not declare it lacks."""
        shift = c.choice("resnet_time_scale_shift", ("default", "scale_shift"), default="default")
        twice = c.bool("class_embeddings_concat", default=False)
        return cls(
            time=time * 2 if twice else time,
            scaled=shift == "scale_shift",
            linear=c.bool("use_linear_projection", default=False),
        )

    def down(self, stages: Sequence[Stage]) -> Block:
        """The way down: down_blocks, of which each but the last halves the image."""
        found, before = list[Node](), stages[0].width
        for place, one in enumerate(stages):
            found.append(
                block(
                    attentions=transformers(one, one.layers, self.linear),
                    resnets=residuals(before, one.width, one.layers, self.time, self.scaled),
                    downsamplers=resampling(one.width) if place < len(stages) - 1 else None,
                )
            )
            before = one.width
        return numbered(found)

    def middle(self, stages: Stages) -> Block | None:
        """The middle: a transformer between two residual blocks, one such block alone, or nothing."""
        one, body = stages.middle, residual(stages.middle.width, stages.middle.width, self.time, self.scaled)
        if stages.kind == _MIDDLES[0]:
            own = transformer(one, one.depths[0], self.linear)
            return block(attentions=numbered([own]), resnets=Repeat(Indices.fixed(0, 1), body))
        return block(resnets=numbered([body])) if stages.kind else None

    def up(self, stages: Sequence[Stage]) -> Block:
        """The way up: up_blocks, each of which also reads what the stage of its place on the way down made."""
        found, before = list[Node](), stages[0].width
        for place, one in enumerate(stages):
            beside = stages[min(place + 1, len(stages) - 1)].width
            found.append(
                block(
                    attentions=transformers(one, one.layers + 1, self.linear),
                    resnets=self._joined(before, one, beside),
                    upsamplers=resampling(one.width) if place < len(stages) - 1 else None,
                )
            )
            before = one.width
        return numbered(found)

    def _joined(self, before: int, one: Stage, beside: int) -> Node:
        """The residual blocks of a stage on the way up; the last reads what is `beside` wide."""
        d, count = one.width, one.layers

        def body(inputs: int) -> Block:
            return residual(inputs, d, self.time, self.scaled)

        if not count:
            return numbered([body(before + beside)])
        inner = Repeat(Indices(range(1, int(count)), count - 1), body(d + d))
        first, last = Repeat(Indices.fixed(0), body(before + d)), Repeat(Indices.of([int(count)]), body(d + beside))
        return first, inner, last

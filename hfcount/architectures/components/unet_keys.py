"""The kinds of stages in diffusers' U-Nets, and the keys that list a value for each stage."""

from typing import NamedTuple

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.text import shown


class StageKind(NamedTuple):
    """A kind of stage.

    Args:
        attends: what is behind each residual block: a transformer over "text", attention within the "image", attention
            to the image and "added" text at once, the two of a "k" stage one after another, or nothing.
        body: the residual blocks: "plain", "skip" with a second way for the image itself, or "k" with adaptive norms.
        resize: what changes the size of the image behind all but the last: a "conv", a "residual" block, or nothing.
    """

    attends: str = ""
    body: str = "plain"
    resize: str = "conv"


class Stage(Record):
    """Residual blocks of one width.

    Args:
        layers: how many, but for one more on the way up.
        depths: the layers of the transformers: of each, or one number for all.
        memory: the width of what they attend to.
        only: whether they attend to nothing else.
    """

    kind: StageKind
    width: int
    layers: int
    heads: int
    head_dim: int
    depths: tuple[int, ...]
    memory: int
    only: bool


class Stages(Record):
    """All stages: on the way down, the middle if there is one, and on the way up."""

    down: tuple[Stage, ...]
    middle: Stage | None
    up: tuple[Stage, ...]

    @property
    def deepest(self) -> int:
        """The width of the middle."""
        return self.down[-1].width


def each(c: Config, key: str, symbol: str, count: int, listed: bool = True) -> list[int]:
    """A number for each stage, from one number or, where it may be `listed`, a list."""
    if not (listed and isinstance(diffusion.held(c, key), list)):
        return [keys.dim(symbol, c.int(key))] * count
    counts = c.ints(key, minimum=1)
    if len(counts) != count:
        raise c.unequal(key, len(counts), "the number of stages", count)
    return [keys.dim(f"{symbol}{number}", entry) for number, entry in enumerate(counts, 1)]


class Depths(NamedTuple):
    """The layers of the transformers in a stage: of `each`, if they are `listed`, or of all."""

    listed: bool
    each: tuple[int, ...]


def depths(c: Config, key: str, count: int, symbol: str = "T") -> list[Depths]:
    """The layers of the transformers in each stage, with an entry for each of these where they differ."""
    if c.is_int(key) or not c.given(key):
        return [Depths(False, (keys.dim(symbol, c.int(key)),))] * count
    stages = list[Depths]()
    for place, entry in enumerate(c.entries(key)):
        nested, listed = isinstance(entry, list), entry if isinstance(entry, list) else [entry]
        if not listed or any(type(depth) is not int or depth < 0 for depth in listed):
            raise c.malformed(f"{key} must hold whole numbers, or lists of such.", key, observed=shown(entry))
        rows = list[int]()
        for inner, depth in enumerate(listed):
            letter, source = f"{symbol}{place + 1}", f"{c.path(key)}[{place}]"
            row = (f"{letter}_{inner + 1}", depth, f"{source}[{inner}]") if nested else (letter, depth, source)
            rows.append(keys.derived_dim(c, *row))
        stages.append(Depths(nested, tuple(rows)))
    if len(stages) < count:
        raise c.unequal(key, len(stages), "the number of stages", count)
    return stages


def check_heads(c: Config, key: str, heads: int, width: int) -> None:
    """Refuses more heads than a stage has channels."""
    if heads > width:
        text = f"{key} gives {int(heads):,} heads to a stage that is {int(width):,} wide."
        raise c.error("out-of-range", text, key, "It says how many heads there are, whatever its name.")


def check_depths(
    c: Config, given: Depths, count: int, exactly: bool = False, key: str = "transformer_layers_per_block"
) -> None:
    """Refuses a list for a stage that is shorter than its `count` of transformers, or not `exactly` as long."""
    size = len(given.each)
    if given.listed and (size < count or (exactly and size != count)):
        raise c.unequal(key, size, "the number of transformers in the stage", count)

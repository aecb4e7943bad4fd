"""Inkling's vision tower: each layer joins neighbouring cells of the grid and projects them."""

from itertools import pairwise

from hfcount import keys
from hfcount.keys.scales import channels, scales
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.spec import Record, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("inkling_vision",)  # transformers 5.23: modeling_inkling.py
IGNORED = ("hidden_size", "num_attention_heads")


class Step(Record):
    """A layer: how many cells it joins, and the channels of a cell before and behind it."""

    joined: int
    inputs: int
    outputs: int


class InklingVision(Record):
    """What Inkling's vision tower alone has."""

    steps: tuple[Step, ...]


def spec(c: Config) -> Spec[InklingVision]:
    steps = list[Step]()
    for place, (before, after) in enumerate(pairwise(scales(c))):
        joined = after.frames // before.frames * (after.side // before.side) ** 2
        cells = keys.derived_dim(c, f"j{place + 1}", joined, "{patch_size}, by its factors")
        inputs, outputs = channels(c, before, place), channels(c, after, place + 1)
        steps.append(Step(joined=cells, inputs=inputs, outputs=outputs))
    return keys.encoding(c, (), hidden=c.int("text_hidden_size")).having(InklingVision(steps=tuple(steps)))


def blueprint(s: Spec[InklingVision]) -> Block:
    layers = dict[str, Node]()
    for place, one in enumerate(s.own.steps):
        last = place == len(s.own.steps) - 1
        width = s.output if last else one.outputs
        linear, norm = Linear(one.joined * one.inputs, width), None if last else rms_norm(width)
        if s.place:  # within the whole model the names are those of the release
            layers |= block(**{f"linear_{place}": linear, f"norm_{place}": norm}).children
        else:
            layers[str(place)] = block(projection=linear, layer_norm=norm)
    named = {"layers" if s.place else "encoder_layers": Block(layers)}
    return Block({**named, "final_norm": rms_norm(s.output)})

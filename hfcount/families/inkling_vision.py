"""Inkling's vision tower: each layer joins neighbouring cells of the grid and projects them."""

from itertools import pairwise

from hfcount import keys
from hfcount.keys.scales import channels, scales
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("inkling_vision",)  # transformers 5.23: modeling_inkling.py
IGNORED = ("hidden_size", "num_attention_heads")


def spec(c: Config) -> Spec:
    steps, traits = scales(c), dict[str, int]()
    for place, (before, after) in enumerate(pairwise(steps)):
        joined = after.frames // before.frames * (after.side // before.side) ** 2
        traits[f"joined.{place}"] = keys.worked(c, f"j{place + 1}", joined, "{patch_size}, by its factors")
        traits[f"inputs.{place}"] = channels(c, before, place)
        traits[f"outputs.{place}"] = channels(c, after, place + 1)
    traits["layers"] = len(steps) - 1
    return keys.encoding(c, (), hidden=c.int("text_hidden_size"), traits=traits)


def blueprint(s: Spec) -> Block:
    of, layers, count = s.traits, dict[str, Node](), s.traits["layers"]
    for place in range(count):
        last = place == count - 1
        width = s.output if last else of[f"outputs.{place}"]
        linear, norm = Linear(of[f"joined.{place}"] * of[f"inputs.{place}"], width), None if last else rms_norm(width)
        if s.place:  # within the whole model the names are those of the release
            layers |= block(**{f"linear_{place}": linear, f"norm_{place}": norm}).children
        else:
            layers[str(place)] = block(projection=linear, layer_norm=norm)
    named = {"layers" if s.place else "encoder_layers": Block(layers)}
    return Block({**named, "final_norm": rms_norm(s.output)})
